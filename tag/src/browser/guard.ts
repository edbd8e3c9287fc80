// The tag is a guest in the page, so its own errors must not reach the page.
export function safely<A extends unknown[]>(work: (...args: A) => void): (...args: A) => void {
  return (...args) => {
    try {
      work(...args);
    } catch {
      // Ignored: the page did nothing wrong, and its visitor can do nothing about it.
    }
  };
}

export function warn(text: string): void {
  // oxlint-disable-next-line no-console -- A page's developer looks in the console, and the tag must not throw.
  console.warn("casehound: " + text);
}
