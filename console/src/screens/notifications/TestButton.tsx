import { useState } from "react";
import { Button } from "../../parts/Button.tsx";
import { useTask } from "../../parts/task.ts";
import { useWorkspace } from "../../session/workspace.tsx";

// Sends a test e-mail to the person, and shows the result.
export function TestButton() {
  const { client } = useWorkspace();
  const task = useTask();
  const [said, setSaid] = useState("");
  const test = () => {
    setSaid("");
    task.run(async () => {
      const { sent, error } = await client.call("testNotifications", {});
      setSaid(
        sent
          ? "The mail server accepted the e-mail. Check your mailbox."
          : (error ?? "The mail server did not accept the e-mail."),
      );
    });
  };
  return (
    <div className="grid max-w-full justify-items-end gap-1">
      <Button onClick={test} disabled={task.isBusy}>
        {task.isBusy ? "Sending…" : "Send a test e-mail"}
      </Button>
      <p role="status" className="max-w-72 text-right text-xs text-soft">
        {task.problem ?? said}
      </p>
    </div>
  );
}
