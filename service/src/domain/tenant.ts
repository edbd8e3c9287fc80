import { Type, type Static } from "typebox";
import type { FieldError } from "./failure.ts";
import { Time, Uuid } from "./field.ts";
import { firstCharacters } from "./text.ts";
import { isTimeZone } from "./time-zone.ts";

const originPattern = /^https?:\/\/([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$/;
const originsMax = 100;
const parametersMax = 50;

const daysWords =
  "How many days the tenant's raw activity, sessions, links and subjects of rule hits are kept. If it is not set, RETENTION_DAYS applies.";
const RetentionDays = Type.Integer({ minimum: 1, maximum: 3650, description: daysWords });

export const identitySetting = Type.Enum(["off", "observe", "required"], {
  description:
    "Whether pages must prove which user is signed in. observe: a signature or your server vouches for a page, and unverified events are counted. required: only a signature vouches for a page. Both need an identity secret.",
});

const settings = {
  allowed_origins: Type.Array(Type.String({ maxLength: 300 }), {
    maxItems: originsMax,
    description: "The exact origins from which browsers may send events, such as `https://shop.example`.",
  }),
  ip_policy: Type.Enum(["full", "truncate", "hash"], {
    description: "What is stored of an IP address after enrichment: the full address, its network, or a hash.",
  }),
  url_parameters: Type.Array(Type.String({ pattern: "^[A-Za-z0-9_.:~\\[\\]-]{1,64}$" }), {
    maxItems: parametersMax,
    description: "The query parameters of page URLs that are kept. All others are removed.",
  }),
};

const TimeZone = Type.String({
  maxLength: 64,
  description: "The zone in which hours and weekends are counted, an IANA name such as `Europe/Berlin`.",
});

const RequiresSecondFactor = Type.Boolean({
  description:
    "Whether everyone who signs in with a password needs a second factor. From their next request on, people without one must add one before they can do anything else. Sign-ins through an identity provider and API clients are not affected.",
});

const NotificationDetails = Type.Enum(["none", "ids"], {
  description: "What notification e-mails say about cases. none: counts, scores and labels. ids: also which accounts.",
});

export const TenantChange = Type.Object(
  {
    allowed_origins: Type.Optional(settings.allowed_origins),
    ip_policy: Type.Optional(settings.ip_policy),
    url_parameters: Type.Optional(settings.url_parameters),
    retention_days: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 3650, description: `${daysWords} 0 restores RETENTION_DAYS.` }),
    ),
    identity_verification: Type.Optional(identitySetting),
    time_zone: Type.Optional(TimeZone),
    requires_second_factor: Type.Optional(RequiresSecondFactor),
    notification_details: Type.Optional(NotificationDetails),
  },
  { additionalProperties: false, $id: "TenantChange" },
);
export type TenantChange = Static<typeof TenantChange>;
export type TenantSettings = Required<Omit<TenantChange, "retention_days">> & { retention_days: number | null };

// Returns null if browsers send exactly this text as their Origin, otherwise what is wrong with it.
function originFault(origin: string): string | null {
  const isOrigin = originPattern.test(origin) && URL.parse(origin)?.origin === origin;
  return isOrigin ? null : "is not an origin as browsers send it, such as https://shop.example";
}

// Checks what the schema cannot.
export function tenantChangeFaults({ allowed_origins, url_parameters, time_zone }: TenantChange): FieldError[] {
  const faults: FieldError[] = [];
  const origins = texts(allowed_origins);
  const wrong = origins.find((origin) => originFault(origin) !== null);
  if (wrong !== undefined)
    faults.push({
      field: "allowed_origins",
      message: `contains a value that ${originFault(wrong)}: ${firstCharacters(wrong, 100)}`,
    });
  else if (new Set(origins).size < origins.length)
    faults.push({ field: "allowed_origins", message: "must not contain duplicates" });
  const parameters = texts(url_parameters);
  if (new Set(parameters).size < parameters.length)
    faults.push({ field: "url_parameters", message: "must not contain duplicates" });
  if (typeof time_zone === "string" && !isTimeZone(firstCharacters(time_zone, 65)))
    faults.push({ field: "time_zone", message: "is not the name of a time zone, such as Europe/Berlin" });
  return faults;
}

// Accepts any value, because it runs even if the schema is violated.
function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each: unknown) => typeof each === "string").slice(0, originsMax) : [];
}

// Returns the settings after the change, or the same object if nothing differs.
export function changeTenant<T extends TenantSettings>(tenant: T, change: TenantChange): T {
  const { retention_days: days, ...rest } = change;
  const changed = { ...tenant, ...rest, ...(days !== undefined && { retention_days: days === 0 ? null : days }) };
  return JSON.stringify(changed) === JSON.stringify(tenant) ? tenant : changed;
}

export const Tenant = Type.Object(
  {
    tenant_name: Type.String({ description: "The tenant's slug." }),
    tenant_id: Uuid,
    client_id: Type.Optional(
      Type.String({ description: "The client that was created with the tenant. Its secret can be rotated." }),
    ),
    clickstream_app_id: Type.String(),
    allowed_origins: Type.Array(Type.String()),
    ip_policy: settings.ip_policy,
    url_parameters: Type.Array(Type.String()),
    retention_days: Type.Optional(RetentionDays),
    identity_verification: identitySetting,
    time_zone: TimeZone,
    requires_second_factor: RequiresSecondFactor,
    notification_details: NotificationDetails,
    created_at: Time,
  },
  { additionalProperties: false, $id: "Tenant" },
);
export type Tenant = Static<typeof Tenant>;

export const RotatedSecret = Type.Object(
  {
    client_id: Type.String(),
    client_secret: Type.String({ description: "Shown only once. The service stores only a hash." }),
    previous_secret_expires_at: Type.Optional(Time),
  },
  { additionalProperties: false, $id: "RotatedSecret" },
);

export const previousSecretMs = 24 * 60 * 60 * 1000;
