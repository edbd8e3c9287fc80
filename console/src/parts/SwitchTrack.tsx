const tones = { bad: "bg-bad", accent: "bg-accent" };

// The picture of a switch, inside the button that has the role.
export function SwitchTrack({ isOn, tone }: { isOn: boolean; tone: keyof typeof tones }) {
  return (
    <span
      aria-hidden
      className={`flex h-3.5 w-6 shrink-0 items-center rounded-full p-0.5 ${isOn ? `justify-end ${tones[tone]}` : "bg-edge/60"}`}
    >
      <span className="size-2.5 rounded-full bg-surface" />
    </span>
  );
}
