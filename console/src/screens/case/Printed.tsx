import { useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { useWorkspace } from "../../session/workspace.tsx";

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });

// Printed only: who printed this copy, and when.
export function Printed() {
  const { user } = useWorkspace().session;
  const [at, setAt] = useState(() => new Date());
  useEffect(() => {
    // Render synchronously, because the browser prints the page as it is when this handler returns.
    const take = () => flushSync(() => setAt(new Date()));
    window.addEventListener("beforeprint", take);
    return () => window.removeEventListener("beforeprint", take);
  }, []);
  return (
    <p className="hidden px-5 text-xs text-faint print:block">
      Printed by {user.name === "" ? user.email : `${user.name} (${user.email})`} on {exact.format(at)}.
    </p>
  );
}
