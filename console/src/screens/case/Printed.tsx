import { useEffect, useState } from "react";
import { flushSync } from "react-dom";
import { fullTime } from "../../parts/clock.ts";
import { useWorkspace } from "../../session/workspace.tsx";

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
      Printed by {user.name === "" ? user.email : `${user.name} (${user.email})`} on {fullTime.format(at)}.
    </p>
  );
}
