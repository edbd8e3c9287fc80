import { SureDialog } from "../parts/SureDialog.tsx";
import { useWorkspace } from "../session/workspace.tsx";

export function SignOutDialog({ onClose }: { onClose: () => void }) {
  const { leave } = useWorkspace();
  return (
    <SureDialog title="Sign out everywhere" act="Sign out everywhere" isHarsh onClose={onClose} run={() => leave("everywhere")}>
      <p>
        Every browser in which you are signed in is signed out at once, this one too. What you have begun to write here is
        discarded.
      </p>
    </SureDialog>
  );
}
