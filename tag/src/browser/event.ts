import { schedule } from "./delivery.ts";
import { warn } from "./guard.ts";
import { enqueue, queued } from "./queue.ts";
import { appKey, version } from "./settings.ts";
import { read } from "./storage.ts";
import { uuid, withoutQuery } from "./text.ts";
import { currentIdentity, currentPage, keepSession } from "./visitor.ts";

const eventBytesMax = 30_000;

function surroundings(): object {
  const locale = navigator.language;
  return {
    app_id: appKey,
    host_name: location.hostname,
    locale,
    system_language: locale.split("-")[0],
    country_code: /-([a-z]{2})\b/i.exec(locale)?.[1]?.toUpperCase() ?? "",
    zone_offset: -new Date().getTimezoneOffset() * 60_000,
    platform: "Web",
    screen_height: screen.height,
    screen_width: screen.width,
    viewport_height: innerHeight,
    viewport_width: innerWidth,
    sdk_name: "casehound-tag",
    sdk_version: version,
  };
}

// Uses the names and shapes of the Clickstream web SDK, so the collector handles only one kind of event.
export function push(type: string, own: object = {}, items?: object[]): void {
  const device = read("casehound.device");
  const session = read("casehound.session");
  const page = currentPage();
  if (!device || !session || !page) return;
  const now = Date.now();
  keepSession(now);
  const { device_id, unique_id, first_touch } = device;
  const id = uuid();
  const event = { event_type: type, event_id: id, device_id, unique_id, timestamp: now, ...surroundings() };
  const user = {
    _user_id: read("casehound.user"),
    casehound_identity: currentIdentity(now),
    _user_first_touch_timestamp: { value: first_touch, set_timestamp: first_touch },
  };
  const attributes = {
    _session_id: session.id,
    _session_start_timestamp: session.start,
    _session_duration: now - session.start,
    _session_number: session.number,
    _page_title: page.title,
    _page_url: page.url,
    _latest_referrer: withoutQuery(document.referrer),
  };
  const whole = queued(id, JSON.stringify({ ...event, items, user, attributes: { ...own, ...attributes } }));
  const isTooLarge = whole.bytes > eventBytesMax;
  if (isTooLarge) warn(`${type} is too large and is sent without its attributes`);
  enqueue(isTooLarge ? queued(id, JSON.stringify({ ...event, user, attributes })) : whole);
  schedule();
}
