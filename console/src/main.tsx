// oxlint-disable-next-line import/no-unassigned-import -- Comes first, because it requests the session.
import "./session/early.ts";
import { ProblemError, isPassing } from "@casehound/client";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { listenToKeys } from "./keys/keys.ts";
import { router } from "./router.tsx";
import { startTheme } from "./shell/theme.ts";
import "./style/console.css";

startTheme();
listenToKeys();

const cache = new QueryClient({
  defaultOptions: {
    queries: {
      // Do not retry rejections, because the service would reject them again.
      retry: (count, error) => count < 3 && (isPassing(error) || !(error instanceof ProblemError)),
      networkMode: "always",
    },
  },
});

const place = document.getElementById("root");
if (!place) throw new Error("The page has no element for the console.");
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={cache}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
