import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

// A reverse proxy that can lose responses: the service has executed the request, and the browser never learns of it.
export class LossyProxy {
  isLosing = false;
  lost: number[] = [];
  url = "";

  static async open(servicePort: number): Promise<LossyProxy> {
    const proxy = new LossyProxy();
    const server = createServer((request, response) => {
      const { method, url: path, headers } = request;
      const onward = httpRequest({ port: servicePort, host: "127.0.0.1", method, path, headers }, (answer) => {
        if (!proxy.isLosing || method !== "POST") {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          return answer.pipe(response);
        }
        proxy.lost.push(answer.statusCode ?? 0);
        return answer.resume().on("end", () => request.socket.destroy());
      });
      onward.on("error", () => request.socket.destroy());
      request.pipe(onward);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return proxy;
  }
}
