import { SureDialog } from "../parts/SureDialog.tsx";
import { useWorkspace } from "../session/workspace.tsx";

export function SignOutDialog({ onClose }: { onClose: () => void }) {
  const { leave } = useWorkspace();
  return (
    <SureDialog title="Sign out everywhere" act="Sign out everywhere" isHarsh onClose={onClose} run={() => leave("everywhere")}>
      <p>You are signed out of every browser at once, including this one. Drafts in this tab are discarded.</p>
    </SureDialog>
  );
}
