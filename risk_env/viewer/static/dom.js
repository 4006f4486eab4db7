// Functions that make and change the elements of a page. Texts become text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** Return an HTML element with attributes and children (elements or texts). */
export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** Return an SVG element. */
export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** Set an attribute if its value changes. Most of a board stays the same from one frame to the next. */
export function set(node, name, value) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** Set the text of an element if it changes. */
export function write(node, text) {
  if (node.textContent !== String(text)) node.textContent = text;
}
