import { notifiedViewsMax, type NotificationSettings, type Notifications } from "@casehound/client";
import { useId, type ReactNode } from "react";
import { Alert, inputLook } from "../../parts/Field.tsx";
import { GuideLink } from "../../parts/GuideLink.tsx";
import { Loading, Trouble } from "../../parts/States.tsx";
import { Moment } from "../../parts/Time.tsx";
import { useTask } from "../../parts/task.ts";
import { visible } from "../../parts/visible.ts";
import { useViews } from "../../views/views.ts";
import { FailedMails } from "./FailedMails.tsx";
import { MailDetails } from "./MailDetails.tsx";
import { TestButton } from "./TestButton.tsx";
import { useNotifications, useSaveNotifications } from "./settings.ts";

// What the person gets by e-mail. Each change is saved at once.
export function NotificationsScreen() {
  const read = useNotifications();
  return (
    <div className="h-full overflow-y-auto">
      <header className="sticky top-0 z-10 border-b border-line bg-surface px-5 py-3">
        <div className="mx-auto flex max-w-[47.5rem] flex-wrap items-center gap-3">
          <h1 className="mr-auto text-lg font-semibold">Notifications</h1>
          <GuideLink page="notifications" about="notifications" />
        </div>
      </header>
      <div className="mx-auto grid max-w-[50rem] gap-6 p-5">
        {read.isPending && <Loading lines={6} name="Loading your notifications" />}
        {read.isLoadingError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
        {read.data && <Settings read={read.data} />}
        <MailDetails />
        <FailedMails />
      </div>
    </div>
  );
}

type Save = (change: Partial<NotificationSettings>) => void;
type Props = { read: Notifications; save: Save; isBusy: boolean };

function Settings({ read }: { read: Notifications }) {
  const saveTo = useSaveNotifications();
  const task = useTask();
  const props = {
    read,
    isBusy: task.isBusy,
    save: (change: Partial<NotificationSettings>) => task.run(() => saveTo(read, change)),
  };
  return (
    <>
      <Target read={read} />
      <Personal {...props} />
      <Views {...props} />
      <Pace {...props} />
      <p role="status" className="text-xs text-faint">
        {task.isBusy ? "Saving…" : "Changes are saved at once."}
      </p>
      {task.problem !== null && <Alert>{task.problem}</Alert>}
    </>
  );
}

function Target({ read: { email, is_mail_set_up: isSetUp, last_mail: last } }: { read: Notifications }) {
  return (
    <section className="flex flex-wrap items-center gap-3 rounded-lg border border-line bg-surface px-4 py-3 text-sm">
      <div className="min-w-48 flex-1">
        <p>
          E-mails go to <strong className="font-medium">{visible(email ?? "")}</strong>.
        </p>
        {!isSetUp && (
          <p className="text-warn">
            The operator of this service has not set up e-mail, so nothing is sent. You can still choose your settings.
          </p>
        )}
        {last && (
          <p className="text-xs text-soft">
            Last e-mail: <Moment at={last.created_at} />
            {last.state === "DEAD" && <span className="text-bad">, could not be delivered</span>}
            {last.state === "WAITING" && ", on its way"}
          </p>
        )}
      </div>
      {isSetUp && <TestButton />}
    </section>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className="grid gap-2 rounded-lg border border-line bg-surface px-4 py-3">
      <legend className="float-left mb-2 w-full text-sm font-semibold">{title}</legend>
      {children}
    </fieldset>
  );
}

type CheckProps = { isOn: boolean; isBusy: boolean; onChange: (isOn: boolean) => void; children: ReactNode };

function Check({ isOn, isBusy, onChange, children }: CheckProps) {
  return (
    <label className="flex items-center gap-2 text-sm">
      <input
        type="checkbox"
        className="size-4 shrink-0 accent-accent"
        checked={isOn}
        aria-disabled={isBusy}
        onChange={(event) => !isBusy && onChange(event.target.checked)}
      />
      <span className="min-w-0">{children}</span>
    </label>
  );
}

const overdueWords = {
  off: "Never",
  mine: "If I claimed them, or they were handed over to me or to my role",
  all: "Always",
} as const;

function Personal({ read, save, isBusy }: Props) {
  const id = useId();
  return (
    <Part title="Notify me about">
      <Check isOn={read.mentions} isBusy={isBusy} onChange={(mentions) => save({ mentions })}>
        Notes that mention me
      </Check>
      <Check isOn={read.handovers} isBusy={isBusy} onChange={(handovers) => save({ handovers })}>
        Cases handed over to me or to my role
      </Check>
      <label htmlFor={id} className="grid gap-1 text-sm">
        Cases that become overdue
        <select
          id={id}
          className={inputLook}
          value={read.overdue}
          onChange={(event) => save({ overdue: event.target.value as NotificationSettings["overdue"] })}
        >
          {Object.entries(overdueWords).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
    </Part>
  );
}

function Views({ read, save, isBusy }: Props) {
  const views = useViews();
  const isFull = read.views.length >= notifiedViewsMax;
  return (
    <Part title="New cases in these views">
      {views.length === 0 && (
        <p className="text-sm text-soft">No saved views yet. Filter the queue and save what you see as a view.</p>
      )}
      {views.map(({ view_id, name, is_own: isOwn, owner }) => {
        const isOn = read.views.includes(view_id);
        const change = (wanted: boolean) =>
          save({ views: wanted ? [...read.views, view_id] : read.views.filter((each) => each !== view_id) });
        return (
          <Check key={view_id} isOn={isOn} isBusy={isBusy || (isFull && !isOn)} onChange={change}>
            {visible(name)}
            {!isOwn && <span className="ml-2 text-xs text-faint">{visible(owner)}</span>}
          </Check>
        );
      })}
      {isFull && <p className="text-xs text-soft">You can choose up to {notifiedViewsMax} views.</p>}
    </Part>
  );
}

const paceWords = {
  at_once: "At once, but at most one e-mail every five minutes",
  hourly: "Every hour on working days",
  daily: "Once a day on working days",
} as const;
const hours = Array.from({ length: 24 }, (_each, hour) => hour);

function Pace({ read, save }: Props) {
  const [paceId, hourId] = [useId(), useId()];
  return (
    <Part title="How often">
      <label htmlFor={paceId} className="grid gap-1 text-sm">
        Send e-mails
        <select
          id={paceId}
          className={inputLook}
          value={read.pace}
          onChange={(event) => save({ pace: event.target.value as NotificationSettings["pace"] })}
        >
          {Object.entries(paceWords).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
      {read.pace === "daily" && (
        <label htmlFor={hourId} className="grid gap-1 text-sm">
          At, in the tenant’s time zone
          <select
            id={hourId}
            className={inputLook}
            value={read.hour}
            onChange={(event) => save({ hour: Number(event.target.value) })}
          >
            {hours.map((hour) => (
              <option key={hour} value={hour}>
                {`${String(hour).padStart(2, "0")}:00`}
              </option>
            ))}
          </select>
        </label>
      )}
    </Part>
  );
}
