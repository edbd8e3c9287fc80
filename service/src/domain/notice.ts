import { Type, type Static } from "typebox";
import { Time, Uuid } from "./field.ts";
import { CaseSubject } from "./subject.ts";

// Of one person. If there are more, the oldest are deleted.
export const noticesMax = 500;
export const noticeDays = 90;

const noticeKinds = ["mention", "handover", "approval"] as const;
type NoticeKind = (typeof noticeKinds)[number];

export const Notice = Type.Object(
  {
    notice_id: Uuid,
    kind: Type.Enum([...noticeKinds], {
      description:
        "`mention`: a note names the person. `handover`: a case was handed over to the person or to the person's role. `approval`: somebody approved or rejected the person's approval request.",
    }),
    case_id: Type.Optional(Type.String({ description: "Absent if an approval request was about an account without a case." })),
    website_account_id: Type.String({ description: "The account of the case, or `UNKNOWN`." }),
    subject: Type.Optional(CaseSubject),
    status: Type.Optional(Type.Enum(["OPEN", "CLOSED"], { description: "The current status of the case." })),
    text: Type.String({ description: "The text of the note, or of the decision." }),
    approval_id: Type.Optional(Type.String({ description: "The request that was decided." })),
    decision: Type.Optional(Type.Enum(["APPROVED", "REJECTED"], { description: "The decision about the request." })),
    handed_to: Type.Optional(Type.String({ description: "To whom the case was handed over: a `user_id` or a role." })),
    created_at: Time,
    created_by: Type.String({ description: "The person or client that wrote the note, as in `changed_by`." }),
    is_read: Type.Boolean(),
  },
  { additionalProperties: false, $id: "Notice" },
);
export type Notice = Static<typeof Notice>;

export const UnreadCount = Type.Object(
  { unread: Type.Integer({ minimum: 0, description: "How many entries of the caller's inbox are unread." }) },
  { additionalProperties: false, $id: "UnreadCount" },
);

export const ReadNotices = Type.Object(
  { notice_ids: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: noticesMax }) },
  { additionalProperties: false, $id: "ReadNotices" },
);
export type ReadNotices = Static<typeof ReadNotices>;

export type NewNotice = { user_id: string; kind: NoticeKind };

type Told = { author: string | undefined; mentions: string[]; recipients?: string[] };

// Who gets a notice of a note, and why. A handover takes precedence over a mention, and nobody gets a notice of their own note.
export function noticesOf({ author, mentions, recipients = [] }: Told): NewNotice[] {
  const kinds = new Map<string, NoticeKind>([
    ...mentions.map((id) => [id, "mention"] as const),
    ...recipients.map((id) => [id, "handover"] as const),
  ]);
  return [...kinds].filter(([id]) => id !== author).map(([user_id, kind]) => ({ user_id, kind }));
}
