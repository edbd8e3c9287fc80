import { Field } from "../parts/Field.tsx";
import { PasswordStep, type SetUpProps } from "./AppSetUp.tsx";
import { addPasskey } from "./passkeys.ts";

// Adds a passkey of this device, of the browser's password manager or of a security key.
export function PasskeySetUp({ email, csrfToken, onDone }: SetUpProps) {
  const run = async (password: string, typed: (name: string) => string) => {
    const added = await addPasskey({ name: typed("name").trim(), password }, csrfToken());
    if (added) onDone(added.codes);
  };
  return (
    <PasswordStep email={email} act="Continue" actBusy="Follow your browser…" run={run}>
      <p className="text-sm text-soft">
        A passkey signs you in with your fingerprint, your face or a PIN, without a password or a code. Your browser asks where to
        keep it: on this device, in a password manager or on a security key.
      </p>
      <Field name="name" label="Name of the passkey" required maxLength={100} defaultValue={deviceName()} autoComplete="off" />
    </PasswordStep>
  );
}

function deviceName(): string {
  const [, system] = /(Windows|Mac OS|Android|iPhone|iPad|Linux|CrOS)/.exec(navigator.userAgent) ?? [];
  const names: Record<string, string> = { "Mac OS": "Mac", CrOS: "Chromebook" };
  return system === undefined ? "Passkey" : (names[system] ?? system);
}
