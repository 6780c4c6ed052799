package io.caravan.server.cli.client;

import io.caravan.server.config.HostPort;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The address of a server of another kind, and the user there. A mixin for commands that import Redis lists, or streams
 * over HTTP.
 */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class ImportSource {
    static final String PASSWORD_VARIABLE = "CARAVAN_FROM_PASSWORD";

    private static final Set<String> HTTP = Set.of("http", "https");
    private static final String HTTP_FORM = "http://HOST:PORT/PATH, or https:// for TLS";
    private static final int HTTP_PORT = 80;
    private static final int HTTPS_PORT = 443;

    @Spec(Spec.Target.MIXEE)
    private CommandLine.Model.CommandSpec spec;

    @Option(
            names = "--from",
            paramLabel = "URL",
            description = "A server to import from instead of a file. A Redis:"
                    + " redis://[USER:PASSWORD@]HOST:PORT[/DB], with TLS rediss://. A server of Durable Streams:"
                    + " http://HOST:PORT/PATH, with TLS https://, where PATH is what the paths of all streams begin with;"
                    + " Caravan's is /v1/stream.")
    private @Nullable String url;

    @Option(
            names = "--from-password-file",
            paramLabel = "FILE",
            description =
                    "A file that holds the password there, or the bearer token, which other users of the machine do"
                            + " not see, as they see command lines. It can also be set in the environment variable "
                            + PASSWORD_VARIABLE + ".")
    private @Nullable Path passwordFile;

    @Option(
            names = "--from-tls-ca",
            paramLabel = "FILE",
            description = "Certificates (PEM) of the authorities to trust there instead of Java's defaults.")
    private @Nullable Path authorities;

    /** Whether documents come from a server. */
    public boolean isGiven() {
        return url != null;
    }

    /** Whether the source serves streams over HTTP. */
    public boolean isHttp() {
        return HTTP.contains(String.valueOf(url).split(":", 2)[0]);
    }

    RedisConnection connect(ConnectionOptions options, Map<String, String> environment) throws IOException {
        RedisAddress address;
        try {
            address = RedisAddress.parse(String.valueOf(url));
        } catch (IllegalArgumentException unfit) {
            throw new ParameterException(spec.commandLine(), "--from " + unfit.getMessage());
        }
        return options.connect(environment, address, passwordFile, authorities);
    }

    HttpLink link(ConnectionOptions options, Map<String, String> environment) throws IOException {
        URI base = httpAddress();
        ConnectionOptions.Target target = new ConnectionOptions.Target(
                HostPort.parse(base.getHost() + ":" + port(base)), null, passwordFile, PASSWORD_VARIABLE, "--from-");
        return options.link(environment, base, target, authorities);
    }

    private static int port(URI base) {
        return base.getPort() >= 0 ? base.getPort() : base.getScheme().equals("https") ? HTTPS_PORT : HTTP_PORT;
    }

    /**
     * Returns the given address. The message about an invalid one does not quote it, because it may contain a password.
     */
    private URI httpAddress() {
        try {
            URI base = new URI(String.valueOf(url));
            if (base.getHost() != null
                    && base.getRawUserInfo() == null
                    && base.getRawQuery() == null
                    && base.getRawFragment() == null) {
                return base;
            }
        } catch (URISyntaxException unfit) {
            // Reported below.
        }
        throw new ParameterException(
                spec.commandLine(),
                "--from is not " + HTTP_FORM + "; a token comes from --from-password-file or " + PASSWORD_VARIABLE);
    }
}
