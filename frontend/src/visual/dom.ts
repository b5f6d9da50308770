/** Small helpers for the DOM: the layer has no framework, so that the report can carry it. */
type Child = Node | string | null;

export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string | boolean> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child): child is Node | string => child !== null));
  return made;
}

/** Calls with the width of an element whenever it changes; returns what ends that. */
export function onWidth(target: HTMLElement, draw: (width: number) => void): () => void {
  let last = 0;
  const look = () => {
    const width = Math.floor(target.clientWidth);
    if (width > 0 && width !== last) {
      last = width;
      draw(width);
    }
  };
  const observer = new ResizeObserver(look);
  observer.observe(target);
  look();
  return () => observer.disconnect();
}
