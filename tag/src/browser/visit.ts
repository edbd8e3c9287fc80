import { sendLast } from "./delivery.ts";
import { push } from "./event.ts";
import { takeInputs } from "./inputs.ts";
import { release } from "./queue.ts";
import { read } from "./storage.ts";
import { beginSession, createDevice, currentAddress, currentPage, forgetPage, isAlive, setPage } from "./visitor.ts";

const endOfPage = 0.9;

let visibleSince: number | undefined;
let hasScrolled = false;

function visibleMs(now: number): number {
  return Math.max(0, now - (visibleSince ?? now));
}

// Runs before every event to set its device, session and page. Each that is new is reported as an event of its own.
export function noticeVisit(): void {
  const now = Date.now();
  const isFirst = !read("casehound.device")?.unique_id;
  if (isFirst) createDevice(now);
  const last = read("casehound.session");
  const isNew = last === undefined || !isAlive(last, now);
  const before = currentPage();
  const isMoved = isNew || currentAddress() !== before?.url;
  if (isMoved && !isNew) engage();
  setPage(isMoved ? now : (before?.at ?? now));
  if (isNew) {
    beginSession(now, (last?.number ?? 0) + 1);
    if (visibleSince !== undefined) visibleSince = now;
    if (isFirst) push("_first_open");
    push("_session_start");
  }
  if (!isMoved) return;
  hasScrolled = false;
  const previous = isNew ? undefined : (before ?? last.page);
  push("_page_view", {
    _page_referrer: previous?.url ?? "",
    _page_referrer_title: previous?.title ?? "",
    _previous_timestamp: previous?.at,
    _entrances: isNew ? 1 : 0,
  });
}

export function engage(): void {
  const now = Date.now();
  push("_user_engagement", { _engagement_time_msec: visibleMs(now), ...takeInputs() });
  if (visibleSince !== undefined) visibleSince = now;
}

export function noticeScroll(): void {
  if (hasScrolled || innerHeight + scrollY < endOfPage * document.documentElement.scrollHeight) return;
  noticeVisit();
  hasScrolled = true;
  push("_scroll", { _engagement_time_msec: visibleMs(Date.now()) });
}

export function arrive(): void {
  release(false);
  if (document.visibilityState === "visible") visibleSince = Date.now();
  noticeVisit();
}

// A page restored from the back-forward cache counts as a new view.
export function revisit(): void {
  forgetPage();
  arrive();
}

// A page that is left is hidden and unloaded, in either order. The first of the two reports the engagement.
export function leave(isGone: boolean): void {
  if (visibleSince !== undefined) engage();
  else if (!isGone) return;
  visibleSince = undefined;
  if (isGone) release(true);
  void sendLast();
}
