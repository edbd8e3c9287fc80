import { Component, type ReactNode } from "react";
import { Button } from "../parts/Button.tsx";
import { Empty } from "../parts/States.tsx";

// Keeps an error in one screen from breaking the rest of the console.
export class ScreenBoundary extends Component<{ children: ReactNode }, { isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError(): { isBroken: boolean } {
    return { isBroken: true };
  }

  override render(): ReactNode {
    if (!this.state.isBroken) return this.props.children;
    return (
      <Empty isScreen title="This screen failed">
        <p>The console has a bug. Saved changes are not affected.</p>
        <Button className="mt-3" onClick={() => this.setState({ isBroken: false })}>
          Reload the screen
        </Button>
      </Empty>
    );
  }
}
