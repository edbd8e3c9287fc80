# A mail server of Debian's package python3-aiosmtpd. It delivers to a Maildir and prints its port. The settings are one argument:
# {"folder", "login": {"user", "password"} or null, "pem" or null, "starttls": bool}.
import asyncio
import json
import ssl
import sys

from aiosmtpd.handlers import Mailbox
from aiosmtpd.smtp import SMTP, AuthResult

settings = json.loads(sys.argv[1])
login = settings["login"]


class Deliverer(Mailbox):
    # Refuses some recipients, as a server does that is too busy, or does not know them.
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("later-"):
            return "451 4.3.0 Try again later, secret words of the server"
        if address.startswith("never-"):
            return "550 5.1.1 Nobody here by that name"
        envelope.rcpt_tos.append(address)
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    isRight = data.login.decode() == login["user"] and data.password.decode() == login["password"]
    # The server itself answers if the login is not handled here.
    return AuthResult(success=isRight, handled=False)


async def main():
    context = None
    if settings["pem"] is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(settings["pem"])
    isUpgrading = settings["starttls"]
    handler = Deliverer(settings["folder"])
    options = {"hostname": "mail.test", "enable_SMTPUTF8": True, "auth_require_tls": False}
    if isUpgrading:
        options["tls_context"] = context
        options["require_starttls"] = True
    if login is not None:
        options["authenticator"] = authenticate
        options["auth_required"] = True
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(handler, loop=loop, **options), "127.0.0.1", 0, ssl=None if isUpgrading else context
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
