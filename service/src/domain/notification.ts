import { Type, type Static } from "typebox";
import { versionConflict } from "./failure.ts";
import { Time, Uuid } from "./field.ts";

// What each person gets by e-mail, and how often.

export const notifiedViewsMax = 20;
// The shortest time between two e-mails to one person.
export const atOnceMs = 5 * 60_000;
// If there was no news, look again after this time.
export const idleMs = 10_000;
export const personDayMax = 100;
export const tenantHourMax = 1_000;
export const testsPerHourMax = 5;
// Older events are left out, for example if the operator has only just set up e-mail.
export const toldDays = 14;
export const mailDays = 30;

const paces = ["at_once", "hourly", "daily"] as const;
const overdueKinds = ["off", "mine", "all"] as const;
export const mailStates = ["WAITING", "SENT", "DEAD"] as const;
export type MailState = (typeof mailStates)[number];

const settingMembers = {
  views: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    maxItems: notifiedViewsMax,
    description: "Saved views, own or shared. The person is notified of new cases in them.",
  }),
  mentions: Type.Boolean({ description: "Whether to notify the person of notes that mention them." }),
  handovers: Type.Boolean({
    description: "Whether to notify the person of cases that are handed over to them or to their role.",
  }),
  overdue: Type.Enum([...overdueKinds], {
    description:
      "Which overdue cases to notify the person of. `mine`: those that the person has claimed, or that were handed over to the person or to the person's role.",
  }),
  pace: Type.Enum([...paces], {
    description: `\`at_once\`: within seconds, but at most one e-mail every ${atOnceMs / 60_000} minutes. \`hourly\` and \`daily\`: one e-mail for everything since the last, on the working days of the due times.`,
  }),
  hour: Type.Integer({ minimum: 0, maximum: 23, description: "When the daily e-mail is sent, in the tenant's time zone." }),
};

const Version = Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: "Increases with every change." });

export const NotificationSettings = Type.Object(
  { notifications_version: { ...Version, description: "The version that was read." }, ...settingMembers },
  { additionalProperties: false, $id: "NotificationSettings" },
);
export type NotificationSettings = Static<typeof NotificationSettings>;
export type Settings = Omit<NotificationSettings, "notifications_version">;

export const Notifications = Type.Object(
  {
    notifications_version: Version,
    ...settingMembers,
    email: Type.Optional(
      Type.String({ description: "The address that e-mails are sent to. Absent for clients, which get none." }),
    ),
    is_mail_set_up: Type.Boolean({ description: "Whether the operator of the service has set up e-mail." }),
    last_mail: Type.Optional(
      Type.Object(
        { state: Type.Enum([...mailStates]), created_at: Time },
        { additionalProperties: false, description: "The last e-mail to the person, except tests." },
      ),
    ),
  },
  { additionalProperties: false, $id: "Notifications" },
);

export const NotificationTest = Type.Object(
  {
    sent: Type.Boolean({ description: "Whether the mail server accepted the e-mail." }),
    error: Type.Optional(Type.String({ description: "Why the e-mail was not sent." })),
  },
  { additionalProperties: false, $id: "NotificationTest" },
);

export const NotificationMail = Type.Object(
  {
    mail_id: Uuid,
    user_id: Uuid,
    email: Type.String(),
    kind: Type.Enum(["digest", "test"]),
    state: Type.Enum([...mailStates], {
      description: "`SENT`: the mail server accepted the e-mail. `DEAD`: the service stopped trying.",
    }),
    attempts: Type.Integer({ minimum: 0 }),
    created_at: Time,
    last_attempt_at: Type.Optional(Time),
    next_attempt_at: Type.Optional(Time),
    last_error: Type.Optional(Type.String()),
  },
  { additionalProperties: false, $id: "NotificationMail" },
);
export type NotificationMail = Static<typeof NotificationMail>;

// Nobody gets e-mails without asking for them.
export const noNotifications: NotificationSettings = {
  notifications_version: 1,
  views: [],
  mentions: false,
  handovers: false,
  overdue: "off",
  pace: "daily",
  hour: 9,
};

export function isOn({ views, mentions, handovers, overdue }: Settings): boolean {
  return views.length > 0 || mentions || handovers || overdue !== "off";
}

// Returns the settings after the change.
export function changeNotifications(found: NotificationSettings, wanted: NotificationSettings): NotificationSettings {
  if (wanted.notifications_version !== found.notifications_version)
    throw versionConflict("The notification settings", found.notifications_version);
  return { ...wanted, views: [...new Set(wanted.views)], notifications_version: found.notifications_version + 1 };
}

const minuteMs = 60_000;
const pausesMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, 30 * minuteMs];
const longestPauseMs = 60 * minuteMs;
const givenUpAfterMs = 24 * 60 * minuteMs;

// How long to wait after this many attempts, or null to give up.
export function nextMailPauseMs(attempts: number, sinceFirstMs: number): number | null {
  return sinceFirstMs >= givenUpAfterMs ? null : (pausesMs[attempts - 1] ?? longestPauseMs);
}
