import type { Config } from "../config.ts";
import type { Waiting } from "../db/waiting.ts";
import { openMailer } from "../mail/mailer.ts";
import { fail, ok, type Check } from "./doctor-checks.ts";

const name = "e-mail";

// Connects to the mail server and logs in, but sends nothing.
export async function checkMail({ mail }: Pick<Config, "mail">): Promise<Check> {
  const mailer = openMailer(mail);
  if (!mail || !mailer) return ok(name, "not set up: nobody gets notifications by e-mail until SMTP_URL and MAIL_FROM are set");
  const server = `${mail.host}:${mail.port}`;
  const fault = await mailer.check();
  if (fault === null) return ok(name, `${server} accepts the login${mail.tls === "off" ? ", without TLS" : ""}`);
  return fail(name, `${server}: ${fault}`, "check the host, port, user, password and certificate of the server in SMTP_URL");
}

export function checkMails({ mails: { dead } }: Pick<Waiting, "mails">): Check[] {
  if (dead === 0) return [];
  const what = `${dead.toLocaleString("en")} ${dead === 1 ? "notification" : "notifications"} could not be delivered in the last 30 days`;
  return [fail(name, what, "GET /notifications/mails?state=DEAD shows the errors")];
}
