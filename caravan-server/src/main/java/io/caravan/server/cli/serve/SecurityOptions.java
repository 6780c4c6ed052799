package io.caravan.server.cli.serve;

import static io.caravan.server.config.Quantities.check;

import io.caravan.server.net.Tls;
import io.caravan.server.protocol.http.HttpConfig;
import io.caravan.server.security.Authenticator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for authentication, TLS, and protection against web pages. */
final class SecurityOptions {
    /** Contains the password. There is no option for it, because all users can read command lines. */
    static final String PASSWORD_VARIABLE = "CARAVAN_PASSWORD";

    @Option(
            names = "--auth-file",
            paramLabel = "FILE",
            description = "File with users, their secrets, and their permissions. Read again when it changes.")
    private @Nullable Path authFile;

    @Option(
            names = "--password-file",
            paramLabel = "FILE",
            description = "File with one secret that grants every permission. Read again when it changes."
                    + " Alternatively, set CARAVAN_PASSWORD.")
    private @Nullable Path passwordFile;

    @Option(
            names = "--tls-cert",
            paramLabel = "FILE",
            description = "File with the server's certificate and the intermediate certificates, PEM. All ports then"
                    + " accept only TLS. Read again when it changes.")
    private @Nullable Path tlsCert;

    @Option(
            names = "--tls-key",
            paramLabel = "FILE",
            description = "File with the private key of the certificate, PEM (PKCS #8), without a password.")
    private @Nullable Path tlsKey;

    @Option(
            names = "--tls-ca",
            paramLabel = "FILE",
            description = "File with the authorities that sign client certificates, PEM. Every client then needs a"
                    + " certificate.")
    private @Nullable Path tlsCa;

    @Option(
            names = "--allow-origin",
            paramLabel = "ORIGIN",
            split = ",",
            description = "Web origins, such as https://app.example, whose pages may use HTTP while authentication"
                    + " is disabled, or * for all. Separate several by commas, or repeat the option. Pages of this"
                    + " machine are always allowed.")
    private List<String> allowedOrigins = List.of();

    @Option(
            names = "--allow-host",
            paramLabel = "NAME",
            split = ",",
            description = "Names, or * for all, that the Host header may contain while authentication is disabled."
                    + " Separate several by commas, or repeat the option. Always allowed: the names of this machine,"
                    + " the hosts of --allow-origin, and IP addresses unless --http is a loopback address.")
    private List<String> allowedHosts = List.of();

    HttpConfig allow(HttpConfig http) {
        return http.withAllowed(allowedOrigins, allowedHosts);
    }

    Authenticator authenticator(Map<String, String> environment) throws IOException {
        String password = environment.get(PASSWORD_VARIABLE);
        check(
                Stream.of(authFile, passwordFile, password)
                                .filter(Objects::nonNull)
                                .count()
                        <= 1,
                "--auth-file, --password-file and " + PASSWORD_VARIABLE + " exclude each other: choose one");
        if (password != null) {
            check(!password.isEmpty(), PASSWORD_VARIABLE + " is empty: set it to the password, or unset it");
            return Authenticator.ofPassword(password.getBytes(StandardCharsets.UTF_8));
        }
        if (authFile != null) {
            return Authenticator.ofSecrets(authFile);
        }
        return passwordFile == null ? Authenticator.open() : Authenticator.ofPassword(passwordFile);
    }

    boolean usesTls() {
        return tlsCert != null;
    }

    /** Returns the files that no other user may read. */
    List<Path> secretFiles() {
        return Stream.of(authFile, passwordFile, tlsKey)
                .flatMap(Stream::ofNullable)
                .toList();
    }

    /** Reads the certificate and the key; null if clients do not use TLS. */
    @Nullable
    Tls tls() throws IOException {
        check((tlsCert == null) == (tlsKey == null), "--tls-cert and --tls-key require each other");
        check(tlsCa == null || tlsCert != null, "--tls-ca requires --tls-cert and --tls-key");
        return tlsCert == null || tlsKey == null ? null : new Tls(tlsCert, tlsKey, tlsCa);
    }
}
