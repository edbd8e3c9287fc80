import type { View } from "@casehound/client";
import { Bell, BellOff } from "lucide-react";
import { IconButton } from "../parts/Button.tsx";
import { toast } from "../parts/Toasts.tsx";
import { useTask } from "../parts/task.ts";
import { visible } from "../parts/visible.ts";
import { useNotifications, useSaveNotifications } from "../screens/notifications/settings.ts";
import { useWorkspace } from "../session/workspace.tsx";

// Switches e-mails about new cases in a view on and off.
export function ViewBell({ view: { view_id, name } }: { view: View }) {
  const { may } = useWorkspace();
  const read = useNotifications().data;
  const save = useSaveNotifications();
  const task = useTask();
  if (!may("read:case") || !read) return null;
  const isOn = read.views.includes(view_id);
  const toggle = () =>
    task.run(async () => {
      const others = read.views.filter((each) => each !== view_id);
      await save(read, { views: isOn ? others : [...others, view_id] });
      const later = read.is_mail_set_up ? "" : " Nothing is sent until the operator of this service sets up e-mail.";
      const words = isOn
        ? `You no longer get e-mails about ${visible(name)}.`
        : `You now get e-mails about new cases in ${visible(name)}.${later}`;
      toast({ kind: "done", words });
    });
  const Icon = isOn ? Bell : BellOff;
  return (
    <IconButton name={`E-mails about ${visible(name)}`} aria-pressed={isOn} disabled={task.isBusy} onClick={toggle}>
      <Icon size={14} aria-hidden className={isOn ? "text-accent" : ""} />
    </IconButton>
  );
}
