import type { User, UserLink } from "@casehound/client";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { UserPlus, Users } from "lucide-react";
import { useState } from "react";
import type { ConsoleClient } from "../../data/client.ts";
import { Button } from "../../parts/Button.tsx";
import { inputLook } from "../../parts/Field.tsx";
import { NotAvailable } from "../../parts/NotAvailable.tsx";
import { Empty, Loading, Trouble } from "../../parts/States.tsx";
import { useWorkspace } from "../../session/workspace.tsx";
import { FactorRule } from "./FactorRule.tsx";
import { InviteDialog } from "./InviteDialog.tsx";
import { IssuersDialog } from "./IssuersDialog.tsx";
import { LinkDialog } from "./LinkDialog.tsx";
import { PeopleTable, type Ask } from "./PeopleTable.tsx";
import { ProvisioningDialog } from "./ProvisioningDialog.tsx";
import { RolesDialog } from "./RolesDialog.tsx";
import { DisableDialog, EndSessionsDialog, NewLinkDialog, RenameDialog, ResetFactorDialog } from "./PersonDialogs.tsx";

type Open =
  | { kind: "invite" | "roles" | "issuers" | "provisioning" }
  | { kind: "given"; user: User; link: UserLink }
  | { kind: Ask; user: User };

const staleMs = 30_000;

function usersQuery(client: ConsoleClient) {
  return queryOptions({ queryKey: ["users"], queryFn: ({ signal }) => client.call("listUsers", { signal }), staleTime: staleMs });
}

// Who may work in this tenant, and in which role. Leads can view it; admins can change it.
export function PeopleScreen() {
  const { client, may } = useWorkspace();
  const isAllowed = may("read:users");
  const read = useQuery({ ...usersQuery(client), enabled: isAllowed });
  const [open, setOpen] = useState<Open | null>(null);
  const close = () => setOpen(null);
  const give = (user: User, link: UserLink) => setOpen({ kind: "given", user, link });
  const mayManage = may("manage:users");
  return (
    <div className="h-full overflow-y-auto">
      <header className="sticky top-0 z-10 border-b border-line bg-surface px-5 py-3">
        <div className="mx-auto flex max-w-[85.5rem] flex-wrap items-center gap-3">
          <h1 className="mr-auto text-lg font-semibold">People</h1>
          {isAllowed && <Find />}
          {mayManage && <Button onClick={() => setOpen({ kind: "issuers" })}>Single sign-on</Button>}
          {mayManage && <Button onClick={() => setOpen({ kind: "provisioning" })}>Provisioning</Button>}
          {mayManage && <Button onClick={() => setOpen({ kind: "roles" })}>Roles</Button>}
          {mayManage && (
            <Button look="primary" onClick={() => setOpen({ kind: "invite" })}>
              <UserPlus size={15} aria-hidden /> Invite
            </Button>
          )}
        </div>
      </header>
      <div className="mx-auto max-w-[88rem] p-5">
        {!isAllowed && <NotAvailable what="The list of people" />}
        {read.isLoading && <Loading lines={6} name="Loading the people" />}
        {read.isError && <Trouble error={read.error} onRetry={() => void read.refetch()} />}
        {read.data && <Listed users={read.data.users} onAsk={(kind, user) => setOpen({ kind, user })} />}
        {read.data && mayManage && may("read:tenant") && <FactorRule users={read.data.users} />}
      </div>
      {open?.kind === "invite" && <InviteDialog onClose={close} onInvited={give} />}
      {open?.kind === "roles" && <RolesDialog onClose={close} />}
      {open?.kind === "issuers" && <IssuersDialog onClose={close} />}
      {open?.kind === "provisioning" && <ProvisioningDialog onClose={close} />}
      {open?.kind === "given" && <LinkDialog user={open.user} link={open.link} onClose={close} />}
      {open?.kind === "link" && <NewLinkDialog user={open.user} onClose={close} onMade={give} />}
      {open?.kind === "sessions" && <EndSessionsDialog user={open.user} onClose={close} />}
      {open?.kind === "factor" && <ResetFactorDialog user={open.user} onClose={close} />}
      {open?.kind === "disable" && <DisableDialog user={open.user} onClose={close} />}
      {open?.kind === "rename" && <RenameDialog user={open.user} onClose={close} />}
    </div>
  );
}

function Find() {
  const { find = "" } = useSearch({ from: "/inside/people" });
  const navigate = useNavigate({ from: "/people" });
  return (
    <input
      type="search"
      aria-label="Find by name, e-mail or role"
      placeholder="Name, e-mail or role"
      className={`${inputLook} !h-8 !w-60`}
      value={find}
      onChange={({ target: { value } }) => void navigate({ search: value === "" ? {} : { find: value }, replace: true })}
    />
  );
}

function Listed({ users, onAsk }: { users: User[]; onAsk: (kind: Ask, user: User) => void }) {
  const { find = "" } = useSearch({ from: "/inside/people" });
  const wanted = find.trim().toLowerCase();
  const shown = users.filter(({ name, email, role }) => `${name}\n${email}\n${role}`.toLowerCase().includes(wanted));
  if (shown.length === 0)
    return (
      <Empty title={users.length === 0 ? "Nobody has an account yet" : "No matches"} icon={<Users size={20} aria-hidden />}>
        {users.length > 0 && `None of the ${users.length} people has “${find}” in their name, e-mail or role.`}
      </Empty>
    );
  return <PeopleTable users={shown} onAsk={onAsk} />;
}
