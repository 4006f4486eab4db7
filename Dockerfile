# `risk-env serve` in a container (docs/browser.md, "In a container").
FROM python:3.11-slim AS build
WORKDIR /source
COPY . .
RUN pip install --no-cache-dir -c constraints.txt build && python -m build --wheel --outdir /wheels

FROM python:3.11-slim
RUN useradd --create-home risk && install -d -o risk /games
COPY --from=build /wheels /source/constraints.txt /wheels/
RUN pip install --no-cache-dir -c /wheels/constraints.txt "$(ls /wheels/*.whl)[web]"
USER risk
# The compiled code is for the processor of this machine. On another kind of processor, the code is compiled again.
RUN risk-env warmup --bots --workers 2
VOLUME /games
EXPOSE 8642
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8642/', timeout=8)"]
ENTRYPOINT ["risk-env", "serve", "--host", "0.0.0.0", "--database", "/games/risk-games.sqlite"]
