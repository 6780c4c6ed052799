package io.caravan.server.cli.client;

import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The address of a second server, and the user to log in as. A mixin for commands that copy documents to that server.
 */
public final class TargetServer {
    @Option(
            names = "--to",
            required = true,
            paramLabel = "ADDRESS",
            description =
                    "The other server: HOST:PORT for RESP, or http://HOST:PORT or https://HOST:PORT. Over RESP, the"
                            + " command uses TLS for both servers or for neither.")
    private String address;

    @Option(names = "--to-user", paramLabel = "NAME", description = "User to log in as at the other server, over RESP.")
    private @Nullable String user;

    @Option(
            names = "--to-password-file",
            paramLabel = "FILE",
            description =
                    "File with the password for the other server or, over HTTP, the bearer token. Alternatively, set"
                            + " the environment variable CARAVAN_TO_PASSWORD.")
    private @Nullable Path passwordFile;

    @Option(
            names = "--to-tls-ca",
            paramLabel = "FILE",
            description = "With https://, file with the authorities (PEM) to trust for the other server, instead of"
                    + " Java's defaults.")
    private @Nullable Path authorities;

    /** Returns the given address without a trailing slash. */
    public String address() {
        return address.replaceFirst("/\\z", "");
    }

    public DocumentClient documents(ConnectionOptions options) throws IOException {
        boolean secure = address.startsWith("https://");
        boolean http = secure || address.startsWith("http://");
        options.check(!http || user == null, "--to-user requires RESP: over HTTP, the token identifies the user");
        options.check(
                secure || authorities == null,
                "--to-tls-ca requires https://; over RESP, --tls-ca applies to both servers");
        ConnectionOptions.Login login = new ConnectionOptions.Login("--to-", user, passwordFile);
        String form = "--to is neither HOST:PORT nor http://HOST:PORT nor https://HOST:PORT";
        if (http) {
            return options.documents(address, login, authorities, form);
        }
        HostPort target;
        try {
            target = HostPort.parse(address);
        } catch (IllegalArgumentException unfit) {
            throw options.misused(form + ": " + unfit.getMessage());
        }
        return new RespDocumentClient(() -> options.connect(target, login));
    }
}
