import tailwindcss from "@tailwindcss/vite";
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [tailwindcss()],
  // Other tools of the repository bring an older React, which would be bundled beside ours.
  resolve: { dedupe: ["react", "react-dom"] },
  build: {
    target: "es2022",
    // Inline nothing as a data URL, because the content security policy allows only scripts and styles from this host.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
