"""Drawings of public positions: text (`ansi`), pictures (`svg`, `rgb`) and a window (`window`).

All drawings show a `Scene`: a `PublicState` with names. A scene contains no hidden facts.
"""

from risk_env.render.ansi import draw_ansi
from risk_env.render.rgb import draw_rgb
from risk_env.render.scene import Scene, scene_of
from risk_env.render.svg import draw_svg

__all__ = ["Scene", "draw_ansi", "draw_rgb", "draw_svg", "scene_of"]
