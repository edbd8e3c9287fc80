import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark" | "system";

const storageName = "casehound.theme";
const listeners = new Set<() => void>();
const systemDark = window.matchMedia("(prefers-color-scheme: dark)");
let chosen = readTheme();

function readTheme(): Theme {
  const stored = localStorage.getItem(storageName);
  return stored === "light" || stored === "dark" ? stored : "system";
}

function apply(): void {
  const isDark = chosen === "dark" || (chosen === "system" && systemDark.matches);
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
}

// Must run before anything is drawn.
export function startTheme(): void {
  apply();
  systemDark.addEventListener("change", apply);
}

export function chooseTheme(theme: Theme): void {
  chosen = theme;
  localStorage.setItem(storageName, theme);
  apply();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, () => chosen);
}
