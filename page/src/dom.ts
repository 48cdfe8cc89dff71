/** Short ways to the page's elements. */

/** The element with an id, which index.html has. */
export function byId<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`index.html must have a ${kind.name} with the id ${id}`);
  return element;
}

/** The first element within another that a selector finds. */
export function within<Kind extends Element>(parent: ParentNode, selector: string, kind: new () => Kind): Kind {
  const element = parent.querySelector(selector);
  if (!(element instanceof kind)) throw new Error(`index.html must have a ${kind.name} at ${selector}`);
  return element;
}

/** Make an element with a class, and a text or children. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className = "",
  content: string | readonly Node[] = [],
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  if (className !== "") element.className = className;
  if (typeof content === "string") element.textContent = content;
  else element.append(...content);
  return element;
}

/** Write a text, unless it stands there already: most texts stay as they are from frame to frame. */
export function write(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}
