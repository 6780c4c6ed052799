package io.caravan.server.cli.client;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The address of the source server, if it is reached over HTTP. A mixin for commands that read documents. */
public final class SourceServer {
    @Option(
            names = "--from",
            paramLabel = "URL",
            description = "The server that has the documents, at http://HOST:PORT or https://HOST:PORT, instead of"
                    + " --server, which is reached over RESP.")
    private @Nullable String url;

    @Option(
            names = "--from-password-file",
            paramLabel = "FILE",
            description = "A file that holds the bearer token there. It can also be set in the environment variable"
                    + " CARAVAN_FROM_PASSWORD.")
    private @Nullable Path passwordFile;

    @Option(
            names = "--from-tls-ca",
            paramLabel = "FILE",
            description = "Certificates (PEM) of the authorities to trust there instead of Java's defaults.")
    private @Nullable Path authorities;

    boolean isNamed() {
        return url != null;
    }

    /** Returns access to the server's documents, or null if the command line names no such server. */
    @Nullable
    DocumentClient carrier(ConnectionOptions options) throws IOException {
        if (url == null) {
            return null;
        }
        try {
            return options.carrier(url, new ConnectionOptions.Login("--from-", null, passwordFile), authorities);
        } catch (IllegalArgumentException unfit) {
            throw options.misused("--from is neither http://HOST:PORT nor https://HOST:PORT");
        }
    }
}
