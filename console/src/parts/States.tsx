import { ProblemError } from "@casehound/client";
import { CircleAlert, Inbox } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./Button.tsx";

type EmptyProps = { title: string; children?: ReactNode; icon?: ReactNode; isScreen?: boolean };

// What a screen shows if it has no data, is still loading, or failed to load. `isScreen` means that nothing else is on the
// screen, so the title is the page's heading.
export function Empty({ title, children, icon, isScreen = false }: EmptyProps) {
  const Title = isScreen ? "h1" : "h2";
  return (
    <div className="mx-auto flex max-w-md flex-col items-center gap-2 px-6 py-16 text-center">
      <span className="mb-1 grid size-11 place-items-center rounded-full bg-sunken text-faint">
        {icon ?? <Inbox size={20} aria-hidden />}
      </span>
      <Title className="text-base font-semibold">{title}</Title>
      {children && <div className="text-sm text-soft">{children}</div>}
    </div>
  );
}

export function Loading({ lines = 6, name = "Loading" }: { lines?: number; name?: string }) {
  return (
    <div role="status" aria-label={name} className="grid gap-3 p-5">
      {Array.from({ length: lines }, (_, index) => (
        <div key={index} className={`h-3.5 animate-pulse rounded bg-sunken ${index % 3 === 2 ? "w-2/3" : "w-full"}`} />
      ))}
    </div>
  );
}

export function Trouble({ error, onRetry, isScreen = false }: { error: unknown; onRetry?: () => void; isScreen?: boolean }) {
  return (
    <Empty isScreen={isScreen} title="This could not be loaded" icon={<CircleAlert size={20} aria-hidden />}>
      <p role="alert">{wordsOf(error)}</p>
      {onRetry && (
        <Button className="mt-3" onClick={onRetry}>
          Try again
        </Button>
      )}
    </Empty>
  );
}

type Read = { isRefetchError: boolean; error: unknown; refetch: () => Promise<unknown> };

// Data read before stays on the screen, because a draft may depend on it. A strip above says that it may be out of date.
export function Stale({ read }: { read: Read }) {
  if (!read.isRefetchError) return null;
  return (
    <p role="alert" className="no-print flex items-center gap-2 border-b border-line bg-warn-soft px-5 py-1.5 text-xs text-warn">
      This may be out of date, because it could not be reloaded. {wordsOf(read.error)}
      <button type="button" className="font-medium underline" onClick={() => void read.refetch()}>
        Try again
      </button>
    </p>
  );
}

// A rejection is shown in the service's words. Any other error is explained by what it means for the person.
export function wordsOf(error: unknown): string {
  if (error instanceof ProblemError) return isOfWhole(error) ? error.detail : faultWords(error.errors ?? []);
  if (error instanceof TypeError) return "The service cannot be reached.";
  return "Something went wrong in the console.";
}

// If no single field is wrong, the response's own sentence applies.
function isOfWhole({ errors }: ProblemError): boolean {
  return errors === null || errors.some(({ field }) => field === "body");
}

// Fields that a form names differently from the API.
const labels: Record<string, string> = { url: "address" };

// Turns `is_disabled` and `must stay` into a sentence.
function faultWords(errors: readonly { field: string; message: string }[]): string {
  return errors.map(({ field, message }) => `${capital(labels[field] ?? field.replaceAll("_", " "))} ${message}.`).join(" ");
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
