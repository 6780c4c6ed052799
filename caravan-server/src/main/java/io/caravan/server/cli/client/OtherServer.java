package io.caravan.server.cli.client;

import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The address of a second server, and the user there. A mixin for commands that copy documents to it. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class OtherServer {
    private static final String PASSWORD_VARIABLE = "CARAVAN_TO_PASSWORD";

    @Spec(Spec.Target.MIXEE)
    private CommandLine.Model.CommandSpec spec;

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
                    + " environment variable " + PASSWORD_VARIABLE + ".")
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

    Carrier carrier(ConnectionOptions options, Map<String, String> environment) throws IOException {
        boolean secure = address.startsWith("https://");
        boolean http = secure || address.startsWith("http://");
        check(!http || user == null, "--to-user is for RESP: over HTTP a token says who the user is");
        check(secure || authorities == null, "--to-tls-ca is for https://; over RESP, --tls-ca is for both servers");
        try {
            if (http) {
                return options.carrier(environment, address, passwordFile, authorities, PASSWORD_VARIABLE, "--to-");
            }
            ConnectionOptions.Target target = new ConnectionOptions.Target(
                    HostPort.parse(address), user, passwordFile, PASSWORD_VARIABLE, "--to-");
            return new RespCarrier(() -> options.connect(environment, target));
        } catch (IllegalArgumentException unfit) {
            // A URL is not quoted, because it may contain a password.
            throw new ParameterException(
                    spec.commandLine(),
                    "--to is neither HOST:PORT nor http://HOST:PORT nor https://HOST:PORT"
                            + (http ? "" : ": " + unfit.getMessage()));
        }
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }
}
