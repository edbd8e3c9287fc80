import { Suspense, lazy, useState } from "react";
import type { MenuProps } from "./OpenMenu.tsx";

const OpenMenu = lazy(async () => ({ default: (await import("./OpenMenu.tsx")).OpenMenu }));

// Menus are loaded after the first screen, because they are a tenth of the console's script. If a person presses the button
// earlier, the menu opens as soon as it is there.
export function Menu(props: MenuProps) {
  const [isPressed, setPressed] = useState(false);
  const button = (
    <span role="presentation" className="contents" onClick={() => setPressed(true)}>
      {props.trigger}
    </span>
  );
  return (
    <Suspense fallback={button}>
      <OpenMenu {...props} isOpen={isPressed} />
    </Suspense>
  );
}
