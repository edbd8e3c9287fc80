// For the `ref` of a chosen tab, because a narrow row of tabs scrolls. It is one function, so React calls it only when a tab is
// chosen, and not whenever the row is rendered again.
export function intoView(tab: HTMLElement | null): void {
  tab?.scrollIntoView({ block: "nearest", inline: "nearest" });
}
