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
            description = "The other server: HOST:PORT for RESP, where TLS is used for both servers or for none; or"
                    + " http://HOST:PORT or https://HOST:PORT for HTTP.")
    private String address;

    @Option(names = "--to-user", paramLabel = "NAME", description = "The user to log in as there, over RESP.")
    private @Nullable String user;

    @Option(
            names = "--to-password-file",
            paramLabel = "FILE",
            description = "A file that holds the password there, over HTTP the bearer token. It can also be set in the"
                    + " environment variable CARAVAN_TO_PASSWORD.")
    private @Nullable Path passwordFile;

    @Option(
            names = "--to-tls-ca",
            paramLabel = "FILE",
            description =
                    "With https://: certificates (PEM) of the authorities to trust there instead of Java's defaults.")
    private @Nullable Path authorities;

    /** Returns the given address without a trailing slash. */
    public String address() {
        return address.replaceFirst("/\\z", "");
    }

    DocumentClient carrier(ConnectionOptions options) throws IOException {
        boolean secure = address.startsWith("https://");
        boolean http = secure || address.startsWith("http://");
        options.check(!http || user == null, "--to-user is for RESP: over HTTP a token says who the user is");
        options.check(
                secure || authorities == null, "--to-tls-ca is for https://; over RESP, --tls-ca is for both servers");
        ConnectionOptions.Login login = new ConnectionOptions.Login("--to-", user, passwordFile);
        try {
            if (http) {
                return options.carrier(address, login, authorities);
            }
            HostPort target = HostPort.parse(address);
            return new RespDocumentClient(() -> options.connect(target, login));
        } catch (IllegalArgumentException unfit) {
            // A URL is not quoted, because it may contain a password.
            throw options.misused("--to is neither HOST:PORT nor http://HOST:PORT nor https://HOST:PORT"
                    + (http ? "" : ": " + unfit.getMessage()));
        }
    }
}
