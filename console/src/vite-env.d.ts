declare module "*.svg" {
  const address: string;
  // oxlint-disable-next-line import/no-default-export -- The bundler exports a file's address this way.
  export default address;
}
declare module "*.css";
