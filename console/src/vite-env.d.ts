declare module "*.svg" {
  const address: string;
  // oxlint-disable-next-line import/no-default-export -- That is how the bundler hands out a file's address.
  export default address;
}
declare module "*.css";
