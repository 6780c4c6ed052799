package io.caravan.server.cli.client;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The address of a Redis or Durable Streams server. A mixin for commands that import Redis lists, or streams over HTTP.
 */
public final class ImportSource {
    @Option(
            names = "--from",
            paramLabel = "URL",
            description = "Import from this server instead of a file. Redis: redis://[USER:PASSWORD@]HOST:PORT[/DB],"
                    + " or rediss:// for TLS. Durable Streams: http://HOST:PORT/PATH, or https:// for TLS, where PATH is"
                    + " the common beginning of the paths of all streams (of a Caravan server: /v1/stream).")
    private @Nullable String url;

    @Mixin
    private SourceServer.Login login;

    /** Whether the command line names a server as the source. */
    public boolean isGiven() {
        return url != null;
    }

    /** Whether the source serves streams over HTTP. */
    public boolean isHttp() {
        return String.valueOf(url).matches("(?s)https?:.*");
    }

    public ServerConnection connect(ConnectionOptions options) throws IOException {
        try {
            return options.redis(String.valueOf(url), login.get(), login.authorities);
        } catch (IllegalArgumentException unfit) {
            throw options.misused("--from is not redis://[USER:PASSWORD@]HOST:PORT[/DB], or rediss:// for TLS");
        }
    }

    public HttpLink link(ConnectionOptions options) throws IOException {
        try {
            return options.link(String.valueOf(url), login.get(), login.authorities);
        } catch (IllegalArgumentException unfit) {
            throw options.misused("--from is not http://HOST:PORT/PATH, or https:// for TLS; a token comes from"
                    + " --from-password-file or " + login.get().variable());
        }
    }
}
