package io.caravan.server.cli.client;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The address of a Redis or Durable Streams server, and the password. A mixin for commands that import Redis lists, or
 * streams over HTTP.
 */
public final class ImportSource {
    private static final Set<String> HTTP = Set.of("http", "https");
    private static final int MAX_PORT = 65_535;

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
                            + " not see, as they see command lines. It can also be set in the environment variable"
                            + " CARAVAN_FROM_PASSWORD.")
    private @Nullable Path passwordFile;

    @Option(
            names = "--from-tls-ca",
            paramLabel = "FILE",
            description = "Certificates (PEM) of the authorities to trust there instead of Java's defaults.")
    private @Nullable Path authorities;

    /** Whether a server is given as the source. */
    public boolean isGiven() {
        return url != null;
    }

    /** Whether the source serves streams over HTTP. */
    public boolean isHttp() {
        return HTTP.contains(String.valueOf(url).split(":", 2)[0]);
    }

    RedisConnection connect(ConnectionOptions options) throws IOException {
        RedisAddress address;
        try {
            address = RedisAddress.parse(String.valueOf(url));
        } catch (IllegalArgumentException unfit) {
            throw options.misused("--from " + unfit.getMessage());
        }
        return options.connect(address, login(), authorities);
    }

    HttpLink link(ConnectionOptions options) throws IOException {
        URI base = httpAddress(options);
        return options.link(base, login(), authorities);
    }

    private ConnectionOptions.Login login() {
        return new ConnectionOptions.Login("--from-", null, passwordFile);
    }

    /**
     * Returns the given address. An error message does not quote an invalid address, because it may contain a password.
     */
    private URI httpAddress(ConnectionOptions options) {
        try {
            URI base = new URI(String.valueOf(url));
            if (base.getHost() != null
                    && base.getPort() <= MAX_PORT
                    && base.getRawUserInfo() == null
                    && base.getRawQuery() == null
                    && base.getRawFragment() == null) {
                return base;
            }
        } catch (URISyntaxException unfit) {
            // The code below reports the problem.
        }
        throw options.misused(
                "--from is not http://HOST:PORT/PATH, or https:// for TLS; a token comes from --from-password-file or "
                        + login().variable());
    }
}
