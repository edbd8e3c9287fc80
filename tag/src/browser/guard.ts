// The tag is a guest in the page: a fault of its own must not become one of the page's.
export function safely<A extends unknown[]>(work: (...args: A) => void): (...args: A) => void {
  return (...args) => {
    try {
      work(...args);
    } catch {
      // There is nobody to tell: the page did nothing wrong, and its visitor can do nothing.
    }
  };
}

export function warn(text: string): void {
  // oxlint-disable-next-line no-console -- The console is where a page's developer looks, and nothing may be thrown.
  console.warn("casehound: " + text);
}
