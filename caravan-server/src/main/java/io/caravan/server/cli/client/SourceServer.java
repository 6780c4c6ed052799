package io.caravan.server.cli.client;

import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The address of the source server, if it is reached over HTTP. A mixin for commands that read documents. */
public final class SourceServer {
    @Option(
            names = "--from",
            paramLabel = "URL",
            description = "The server that has the documents, at http://HOST:PORT or https://HOST:PORT. Without this"
                    + " option, it is the server of --server, over RESP.")
    private @Nullable String url;

    @Mixin
    private Login login;

    /** The options that set the password and the trusted certificate authorities for a source server. */
    public static final class Login {
        @Option(
                names = "--from-password-file",
                paramLabel = "FILE",
                description =
                        "File with the password for the source or, over HTTP, the bearer token. Alternatively, set"
                                + " the environment variable CARAVAN_FROM_PASSWORD.")
        private @Nullable Path passwordFile;

        @Option(
                names = "--from-tls-ca",
                paramLabel = "FILE",
                description = "File with the authorities (PEM) to trust for the source, instead of Java's defaults.")
        @Nullable
        Path authorities;

        ConnectionOptions.Login get() {
            return new ConnectionOptions.Login("--from-", null, passwordFile);
        }
    }

    boolean isNamed() {
        return url != null;
    }

    /** Returns a client for the documents on this server or, if none is named, on that of {@code --server}. */
    public DocumentClient documents(ConnectionOptions options) throws IOException {
        if (url == null) {
            return new RespDocumentClient(options::connect);
        }
        String form = "--from is neither http://HOST:PORT nor https://HOST:PORT";
        return options.documents(url, login.get(), login.authorities, form);
    }
}
