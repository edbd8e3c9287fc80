// Pointer moves and wheel turns fire many events, so a burst counts as one input. A longer gap is a pause and not part of the
// rhythm.
const burstMs = 250;
const pauseMs = 30_000;
const gapsMin = 8;

const kinds: Record<string, "keys" | "scrolls" | undefined> = { keydown: "keys", wheel: "scrolls" };
const lastOfType: Record<string, number> = {};
let counts = noInputs();
let lastAt: number | undefined;

function noInputs(): Record<"pointer" | "keys" | "touches" | "scrolls" | "gaps" | "sum" | "squares", number> {
  return { pointer: 0, keys: 0, touches: 0, scrolls: 0, gaps: 0, sum: 0, squares: 0 };
}

// Records only counts and gaps: never which key, where, or on what element. Scrolling itself does not count, because a script can
// do it.
export function noticeInput(event: Event): void {
  const { type, timeStamp, isTrusted } = event;
  const isTouch = event instanceof PointerEvent && event.pointerType === "touch";
  const isMove = type === "pointermove";
  if (!isTrusted || (isMove && isTouch) || (event instanceof KeyboardEvent && event.repeat)) return;
  const sinceSameMs = timeStamp - (lastOfType[type] ?? -burstMs);
  lastOfType[type] = timeStamp;
  if ((isMove || type === "wheel") && sinceSameMs < burstMs) return;
  counts[kinds[type] ?? (isTouch ? "touches" : "pointer")]++;
  const gap = timeStamp - (lastAt ?? -pauseMs);
  lastAt = timeStamp;
  if (gap >= pauseMs) return;
  counts.gaps++;
  counts.sum += gap;
  counts.squares += gap * gap;
}

// Returns the input since the last summary.
export function takeInputs(): object {
  const { pointer, keys, touches, scrolls, gaps, sum, squares } = counts;
  counts = noInputs();
  const mean = sum / gaps;
  const spread = mean > 0 ? Math.sqrt(Math.max(0, squares / gaps - mean * mean)) / mean : 0;
  return {
    _casehound_inputs: pointer + keys + touches + scrolls,
    _casehound_pointer: pointer,
    _casehound_keys: keys,
    _casehound_touches: touches,
    _casehound_scrolls: scrolls,
    _casehound_input_spread: gaps < gapsMin ? undefined : Math.round(spread * 100) / 100,
    _casehound_webdriver: navigator.webdriver,
  };
}
