import type { Casehound } from "../window.ts";
import { retryNow, send } from "./delivery.ts";
import { push } from "./event.ts";
import { safely, warn } from "./guard.ts";
import { noticeInput } from "./inputs.ts";
import { appKey, version } from "./settings.ts";
import { read } from "./storage.ts";
import { flatten } from "./text.ts";
import { arrive, engage, leave, noticeScroll, noticeVisit, revisit } from "./visit.ts";
import { setIdentity, setUser } from "./visitor.ts";

type Call = [name: keyof Casehound, args: ArrayLike<unknown>];
type Stub = Partial<Casehound> & { version?: string; q?: unknown };

const itemsMax = 20;
const userIdCharactersMax = 512;

function setUserId(id?: unknown, options?: unknown): void {
  const isGiven = (typeof id === "string" && id !== "" && id.length <= userIdCharactersMax) || typeof id === "number";
  if (!isGiven && id !== null) return warn("a user id must be a string of up to 512 characters, or null");
  const value = isGiven ? String(id) : null;
  const isOther = value !== (read("casehound.user")?.value ?? null);
  if (isOther) {
    noticeVisit();
    // Events before a log-out belong to the old user, and events before a log-in belong to the new one.
    if (value === null) engage();
    setUser(value, Date.now());
  }
  const token = tokenOf(options);
  if (value !== null && token !== undefined) setIdentity(token, Date.now());
  if (!isOther) return;
  push("_profile_set");
  if (value !== null) engage();
  void send();
}

function tokenOf(options: unknown): string | undefined {
  // Reading a member of anything but null and undefined is safe.
  const token = (options as { token?: unknown } | null | undefined)?.token ?? undefined;
  const isToken = typeof token === "string" && /^v1\.\d{1,12}\.[\w-]{43}$/.test(token);
  if (!isToken && token !== undefined) warn("the token was not created by signIdentity");
  return isToken ? token : undefined;
}

function record(name?: unknown, attributes?: unknown, items?: unknown): void {
  if (typeof name !== "string" || !/^[A-Za-z][\w.-]{0,63}$/.test(name)) {
    return warn("an event name must be a letter followed by up to 63 letters, digits, underscores, dots and hyphens");
  }
  noticeVisit();
  push(name, flatten(attributes), Array.isArray(items) ? items.slice(0, itemsMax).map(flatten) : undefined);
}

const methods: Record<string, (...args: unknown[]) => void> = { setUserId, record, flush: () => void send() };
// Holds calls while the browser prerenders a page that nobody sees yet.
let early: Call[] | undefined = [];

const call = safely((each: Call) => {
  if (early) early.push(each);
  else methods[each[0]]?.(...Array.from(each[1]));
});

function listen(): void {
  const options = { passive: true, capture: true };
  for (const type of ["pointerdown", "pointermove", "keydown", "wheel"]) addEventListener(type, safely(noticeInput), options);
  addEventListener("scroll", safely(noticeScroll), { passive: true });
  addEventListener("online", safely(retryNow));
  addEventListener("popstate", safely(noticeVisit));
  addEventListener(
    "pagehide",
    safely(() => leave(true)),
  );
  addEventListener(
    "pageshow",
    safely(({ persisted }: PageTransitionEvent) => persisted && revisit()),
  );
  document.addEventListener(
    "visibilitychange",
    safely(() => (document.visibilityState === "hidden" ? leave(false) : arrive())),
  );
  if ("navigation" in window) navigation.addEventListener("currententrychange", noticeSoon);
  else wrapHistory();
}

// Runs in a later turn, when most pages have set their new title.
function noticeSoon(): void {
  setTimeout(safely(noticeVisit));
}

// For browsers without an event for address changes within a page.
function wrapHistory(): void {
  for (const name of ["pushState", "replaceState"] as const) {
    const original = history[name];
    history[name] = function (...args) {
      original.apply(this, args);
      noticeSoon();
    };
  }
}

const start = safely(() => {
  const calls = early ?? [];
  early = undefined;
  arrive();
  listen();
  for (const each of calls) call(each);
});

const install = safely(() => {
  // The page's stub has the same methods and a list of their calls.
  const stub: Stub = window.casehound ?? {};
  if (appKey === "") return warn("the script element needs the attribute data-app-key");
  if (stub.version !== undefined) return;
  const { q } = stub;
  for (const name of Object.keys(methods))
    Object.assign(stub, { [name]: (...args: unknown[]) => call([name as keyof Casehound, args]) });
  // A page that kept one of the stub's methods still reaches the tag.
  window.casehound = Object.assign(stub, { version, q: { push: call } }) as Casehound;
  if (Array.isArray(q)) for (const each of q) call(each);
  if ("prerendering" in document && document.prerendering === true) {
    document.addEventListener("prerenderingchange", start, { once: true });
  } else start();
});

install();
