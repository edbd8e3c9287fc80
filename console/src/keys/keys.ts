import { useLayoutEffect, useSyncExternalStore } from "react";

// `key` is the keyboard event's key in lower case. "mod+k" means Ctrl+K, or Command+K on a Mac. "g 1" means G, and then 1.
export type Binding = { key: string; shown?: string; name: string; group: string; run: () => void; isOff?: boolean };

const storageName = "casehound.keys";
let groups: readonly (readonly Binding[])[] = [];
let areLettersOn = localStorage.getItem(storageName) !== "off";
const listeners = new Set<() => void>();

function tell(): void {
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// The screen's keys while it is shown. If several components bind a key, the latest one wins.
export function useKeys(bindings: readonly Binding[]): void {
  // Bind in the layout phase. After it, a fast key press would still reach the previous screen.
  useLayoutEffect(() => {
    groups = [...groups, bindings];
    tell();
    return () => {
      groups = groups.filter((each) => each !== bindings);
      tell();
    };
  }, [bindings]);
}

export function useBindings(): readonly Binding[] {
  return useSyncExternalStore(subscribe, () => groups).flat();
}

// Each action once, with all keys that do it, as a person reads them.
export function actionsOf(bindings: readonly Binding[]): [Binding, string[]][] {
  const byName = new Map<string, [Binding, string[]]>();
  for (const binding of bindings) {
    const { name, key, shown = key.length === 1 ? key.toUpperCase() : key } = binding;
    const known = byName.get(name);
    if (known) known[1].push(shown);
    else byName.set(name, [binding, [shown]]);
  }
  return [...byName.values()];
}

// Single-letter keys disturb people who use speech input or have unsteady hands, so they can be switched off.
export function useLetters(): [boolean, (areOn: boolean) => void] {
  const areOn = useSyncExternalStore(subscribe, () => areLettersOn);
  return [areOn, chooseLetters];
}

function chooseLetters(areOn: boolean): void {
  areLettersOn = areOn;
  localStorage.setItem(storageName, areOn ? "on" : "off");
  tell();
}

function nameOf(event: KeyboardEvent): string {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  return event.ctrlKey || event.metaKey ? `mod+${key}` : event.altKey ? `alt+${key}` : key;
}

// A control keeps its own keys: text fields take letters, and buttons take Enter and Space.
function isTaken(event: KeyboardEvent): boolean {
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest("textarea, select, [role=menu], dialog")) return true;
  if (target instanceof HTMLInputElement && target.type !== "checkbox") return true;
  return (event.key === "Enter" || event.key === " ") && target.closest("button, a, input") !== null;
}

const chordMs = 1500;
let chordBeganMs = -Infinity;

function handle(event: KeyboardEvent): void {
  const name = nameOf(event);
  const hasModifier = name.startsWith("mod+");
  if (event.defaultPrevented || (!hasModifier && (isTaken(event) || document.querySelector("dialog[open]") !== null))) return;
  if (name.length === 1 && !areLettersOn) return;
  const wanted = chordOf(name, event.timeStamp);
  const binding = groups.flat().findLast((each) => each.key === wanted && each.isOff !== true);
  if (!binding) return;
  event.preventDefault();
  binding.run();
}

// G and then a digit. The digit has no other meaning then, even if no view has it: alone, it would close a case.
function chordOf(name: string, timeMs: number): string {
  const isSecond = /^\d$/.test(name) && timeMs - chordBeganMs < chordMs;
  chordBeganMs = name === "g" ? timeMs : -Infinity;
  return isSecond ? `g ${name}` : name;
}

export function listenToKeys(): void {
  window.addEventListener("keydown", handle);
}
