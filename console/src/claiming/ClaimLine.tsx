import type { Case, Claim } from "@casehound/client";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { nameOfActor } from "../parts/Actor.tsx";
import { Button, Kbd } from "../parts/Button.tsx";
import { Age } from "../parts/Time.tsx";
import { useWorkspace } from "../session/workspace.tsx";
import { useClaims } from "./claims.ts";

const renewMs = 5 * 60_000;

// Who works on the case, with the button for it. Activity on the page renews the person's own claim.
export function ClaimLine({ found, isShort = false }: { found: Pick<Case, "case_id" | "status">; isShort?: boolean }) {
  const { queries, may } = useWorkspace();
  const { case_id: id, status } = found;
  const { data } = useQuery({ ...queries.claim(id), enabled: status === "OPEN" });
  const { me, toggle, takeOver, renew } = useClaims();
  const claim = data?.claim;
  const isMine = claim?.claimed_by === me;
  useRenewal(isMine, () => renew(id));
  if (status !== "OPEN" || !data) return null;
  const act =
    claim && !isMine
      ? { name: "Take over", run: () => takeOver(id) }
      : { name: isMine ? "Release" : "Claim", run: () => toggle(id) };
  return (
    <span className="no-print flex min-h-7 flex-wrap items-center gap-x-2 text-xs text-soft">
      {claim && <ClaimMark claim={claim} />}
      <span className={isShort && !claim ? "sr-only" : ""}>
        {claim ? <HolderWords claim={claim} isMine={isMine} /> : "Nobody has claimed this case"}
      </span>
      {may("update:case") && (
        <Button className="!h-6 !px-2 text-xs" onClick={act.run}>
          {act.name} {(!claim || isMine) && <Kbd>A</Kbd>}
        </Button>
      )}
    </span>
  );
}

function HolderWords({ claim, isMine }: { claim: Claim; isMine: boolean }) {
  return (
    <>
      {isMine ? "You are" : `${nameOfActor(claim.claimed_by)} is`} working on this · <Age at={claim.claimed_at} />
    </>
  );
}

// Warns before a close that a colleague works on the case. Says nothing about one's own claim.
export function ColleagueNote({ caseId }: { caseId: string }) {
  const { queries } = useWorkspace();
  const { me } = useClaims();
  const holder = useQuery(queries.claim(caseId)).data?.claim?.claimed_by;
  if (holder === undefined || holder === me) return null;
  return (
    <p className="mb-4 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn">{nameOfActor(holder)} is working on this case.</p>
  );
}

// A disc with the first letter of the person who works on the case. Filled if it is oneself.
export function ClaimMark({ claim }: { claim: Claim }) {
  const { me } = useClaims();
  const isMine = claim.claimed_by === me;
  const name = nameOfActor(claim.claimed_by);
  const words = isMine ? "You are working on this" : `${name} is working on this`;
  const look = isMine ? "bg-accent text-accent-ink" : "border border-edge bg-surface text-ink";
  return (
    <span
      title={words}
      className={`grid size-5 shrink-0 place-items-center rounded-full text-[11px] leading-none font-semibold ${look}`}
    >
      <span aria-hidden>{name.slice(0, 1).toUpperCase()}</span>
      <span className="sr-only">{words}</span>
    </span>
  );
}

function useRenewal(isMine: boolean, onRenew: () => void): void {
  useEffect(() => {
    if (!isMine) return undefined;
    let lastMs = Date.now();
    const renew = () => {
      if (Date.now() - lastMs < renewMs) return;
      lastMs = Date.now();
      onRenew();
    };
    const kinds = ["keydown", "pointerdown", "wheel"] as const;
    for (const kind of kinds) window.addEventListener(kind, renew, { passive: true });
    return () => {
      for (const kind of kinds) window.removeEventListener(kind, renew);
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- The case and the person do not change while this is mounted.
  }, [isMine]);
}
