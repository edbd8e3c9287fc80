import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [tailwindcss()],
  // Other tools of the repository bring an older React, which would be bundled beside ours.
  resolve: { dedupe: ["react", "react-dom"] },
  build: {
    target: "es2022",
    // Nothing as a data address: the policy of the pages allows scripts and styles of this host alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
