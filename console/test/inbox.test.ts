import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { useService } from "../../service/test/harness.ts";
import { useBrowser } from "../../service/test/shared-browser.ts";
import { Visitor, axeFindings, consolePace, patience } from "./rig.ts";

vi.setConfig(consolePace);
const browser = useBrowser();
const service = useService();

const entry = ({ page }: Visitor) => page.getByRole("link", { name: /^Inbox/ });
const rows = ({ page }: Visitor) => page.getByRole("list", { name: "Inbox" }).getByRole("listitem");

async function mention(visitor: Visitor, caseId: string, text: string): Promise<void> {
  const { user } = (await (await visitor.page.request.get(`${visitor.origin}/auth/session`)).json()) as {
    user: { email: string };
  };
  await visitor.tenant.call("POST", `/cases/${caseId}/notes`, { body: { text: `@${user.email} ${text}` }, key: randomUUID() });
}

test("inbox: mentions and handovers arrive live, by keyboard they are opened and marked as read", async () => {
  const ben = await Visitor.create(browser.current, service.current, { name: "Ben Okri" });
  const { case_id, case_version } = await ben.tenant.openCase("ann");
  await ben.goto();
  await ben.expectLive();
  expect(await entry(ben).textContent()).toBe("Inbox");
  await ben.press("i");
  await ben.page.getByRole("heading", { name: "Your inbox is empty" }).waitFor();
  expect(await axeFindings(ben.page)).toEqual([]);
  await ben.tenant.call("POST", `/cases/${case_id}/handover`, {
    body: { case_version, handed_to: "admin", text: "Please decide." },
    key: "first",
  });
  await expect.poll(() => entry(ben).textContent(), patience).toBe("Inbox1 unread");
  await rows(ben).filter({ hasText: "handed a case over to the admins: ann" }).getByText("Please decide.").waitFor();
  await mention(ben, case_id, "<b>look</b>");
  await expect.poll(() => entry(ben).textContent(), patience).toBe("Inbox2 unread");
  await rows(ben).filter({ hasText: "mentioned you: ann" }).getByText("<b>look</b>").waitFor();
  expect(await axeFindings(ben.page)).toEqual([]);
  await ben.press("j", "r");
  await expect.poll(() => entry(ben).textContent(), patience).toBe("Inbox1 unread");
  await ben.press("j", "Enter");
  await ben.page.getByRole("heading", { level: 1 }).getByText("ann").waitFor();
  await expect.poll(() => entry(ben).textContent(), patience).toBe("Inbox");
  await mention(ben, case_id, "again");
  await expect.poll(() => entry(ben).textContent(), patience).toBe("Inbox1 unread");
  await ben.press("i");
  await ben.page.getByRole("button", { name: "Mark all as read" }).click();
  await expect.poll(() => entry(ben).textContent(), patience).toBe("Inbox");
  await ben.page.reload();
  await expect.poll(() => rows(ben).count(), patience).toBe(3);
  expect(await ben.page.getByText("Unread:").count()).toBe(0);
  expect(ben.complaints).toEqual([]);
});
