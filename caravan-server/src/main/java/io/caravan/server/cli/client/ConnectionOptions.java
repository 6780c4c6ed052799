package io.caravan.server.cli.client;

import io.caravan.server.cli.client.HttpLink.StatusClient;
import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.config.HostPort;
import io.caravan.server.config.UserFiles;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Options for the server's address and the user. A password is never an option, because other users of the machine can
 * see command lines.
 */
public final class ConnectionOptions {
    /** The position of these options in the help text: after the command's own options. */
    static final int ORDER = CliCommand.Format.ORDER + 1;

    private static final List<String> ADDRESS_VARIABLES = List.of("CARAVAN_SERVER", "CARAVAN_RESP");
    private static final HostPort USUAL_ADDRESS = new HostPort("127.0.0.1", 6380);
    /** Maps the wildcard addresses, which stand for all interfaces of a server, to loopback addresses. */
    private static final Map<String, String> LOOPBACK = Map.of("0.0.0.0", "127.0.0.1", "::", "::1");

    private static final int REDIS_PORT = 6379;
    private static final int MAX_PORT = 65_535;
    private static final long MAX_PASSWORD_FILE_BYTES = 4096;
    private static final int MAX_TIMEOUT_SECONDS = 3600;

    @Spec(Spec.Target.MIXEE)
    private CommandLine.Model.CommandSpec spec;

    @Option(
            names = "--server",
            order = ORDER,
            paramLabel = "HOST:PORT",
            converter = HostPort.Converter.class,
            description = "RESP address of the server. By default, it is in CARAVAN_SERVER, or where a server of"
                    + " this machine listens: CARAVAN_RESP, or 127.0.0.1:6380.")
    private @Nullable HostPort server;

    @Option(
            names = "--user",
            order = ORDER,
            paramLabel = "NAME",
            description = "User to log in as, if the server has" + " several users.")
    private @Nullable String user;

    @Option(
            names = "--password-file",
            order = ORDER,
            paramLabel = "FILE",
            description = "File with the password. Alternatively, set the environment variable CARAVAN_PASSWORD.")
    private @Nullable Path passwordFile;

    @Option(
            names = "--tls",
            order = ORDER,
            description = "Use TLS, and trust Java's default authorities. The server's"
                    + " certificate must be valid for HOST.")
    private boolean tls;

    @Option(
            names = "--tls-ca",
            order = ORDER,
            paramLabel = "FILE",
            description = "Use TLS, and trust the authorities in this file (PEM) instead.")
    private @Nullable Path tlsAuthorities;

    @Option(
            names = "--timeout",
            order = ORDER,
            paramLabel = "SECONDS",
            defaultValue = "10",
            description = "Maximum time for a reply, from 1 to 3600.")
    private int timeoutSeconds;

    /**
     * The user, the sources of the password, and the trusted certificate authorities, for one server.
     *
     * @param prefix the prefix of the names of the login options
     * @param authorities the file with the authorities, or null for Java's defaults
     */
    record Login(
            String prefix,
            @Nullable String user,
            @Nullable Path passwordFile,
            @Nullable Path authorities) {
        String variable() {
            return "CARAVAN_" + prefix.substring(2).toUpperCase(Locale.ROOT).replace('-', '_') + "PASSWORD";
        }

        /** Returns the option that sets the server's address. */
        String addressOption() {
            return prefix.equals("--") ? "--server" : prefix.replaceFirst("-$", "");
        }

        /** Describes the two possible sources of the password, for messages. */
        String ways() {
            return "the environment variable " + variable() + " or with " + prefix + "password-file FILE";
        }
    }

    /** Returns the address of the server, and the user to log in as. */
    public Endpoint server() throws IOException {
        return endpoint(address(), login());
    }

    private Login login() {
        return new Login("--", user, passwordFile, tlsAuthorities);
    }

    private HostPort address() {
        if (server != null) {
            return server;
        }
        for (String variable : ADDRESS_VARIABLES) {
            String text = environment().getOrDefault(variable, "");
            try {
                if (!text.isEmpty()) {
                    HostPort address = HostPort.parse(text);
                    return new HostPort(LOOPBACK.getOrDefault(address.host(), address.host()), address.port());
                }
            } catch (IllegalArgumentException wrong) {
                throw misused(wrong.getMessage() + ", from environment " + variable);
            }
        }
        return USUAL_ADDRESS;
    }

    private Endpoint endpoint(HostPort address, Login login) throws IOException {
        String password = password(login);
        check(
                login.user() == null || password != null,
                login.prefix() + "user needs a password: set " + login.variable() + ", or give " + login.prefix()
                        + "password-file FILE");
        SSLSocketFactory sockets = tls || login.authorities() != null ? sockets(login) : null;
        return new Endpoint(
                address, false, login, password, 0, sockets, (int) timeout().toMillis());
    }

    /** Returns the sockets of connections that trust the authorities of a login. */
    private static SSLSocketFactory sockets(Login login) throws IOException {
        Path authorities = login.authorities();
        if (authorities == null) {
            return (SSLSocketFactory) SSLSocketFactory.getDefault();
        }
        try (InputStream certificates = UserFiles.open(authorities)) {
            JdkSslContext trusting = (JdkSslContext) SslContextBuilder.forClient()
                    .sslProvider(SslProvider.JDK)
                    .trustManager(certificates)
                    .build();
            return trusting.context().getSocketFactory();
        } catch (IllegalArgumentException unfit) {
            throw new IOException(
                    login.prefix() + "tls-ca " + authorities + " is not a file of PEM certificates", unfit);
        }
    }

    /**
     * Returns a Redis server at {@code redis://[USER:PASSWORD@]HOST:PORT[/DB]}, or {@code rediss://} for TLS. The
     * password of the login overrides that of the address.
     */
    public Endpoint redis(String url, SourceLogin source) throws IOException {
        String form = "--from is not redis://[USER:PASSWORD@]HOST:PORT[/DB], or rediss:// for TLS";
        URI uri = uri(url, Set.of("redis", "rediss"), form);
        String info = Objects.requireNonNullElse(uri.getRawUserInfo(), "");
        int colon = info.indexOf(':');
        String user = decoded(colon < 0 ? info : info.substring(0, colon));
        Login from = source.get();
        String password = password(from);
        check(uri.getRawPath().matches("/?|/[0-9]{1,6}"), form);
        String path = uri.getRawPath();
        return new Endpoint(
                HostPort.parse(uri.getHost() + ":" + (uri.getPort() < 0 ? REDIS_PORT : uri.getPort())),
                true,
                new Login(from.prefix(), user, from.passwordFile(), from.authorities()),
                password != null || colon < 0 ? password : decoded(info.substring(colon + 1)),
                path.length() > 1 ? Integer.parseInt(path.substring(1)) : 0,
                uri.getScheme().equals("rediss") ? sockets(from) : null,
                (int) timeout().toMillis());
    }

    private static @Nullable String decoded(String encoded) {
        // A plus is literal here, not a space.
        return encoded.isEmpty() ? null : URLDecoder.decode(encoded.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    /**
     * Parses a URL, or throws {@link ParameterException} with the message {@code form}. The exception does not quote
     * the URL, because it may contain a password.
     */
    private URI uri(String url, Set<String> schemes, String form) {
        URI uri;
        try {
            uri = new URI(url);
        } catch (URISyntaxException malformed) {
            throw misused(form);
        }
        check(
                schemes.contains(String.valueOf(uri.getScheme()))
                        && uri.getHost() != null
                        && uri.getPort() <= MAX_PORT
                        && uri.getRawQuery() == null
                        && uri.getRawFragment() == null,
                form);
        return uri;
    }

    private Duration timeout() {
        check(timeoutSeconds >= 1 && timeoutSeconds <= MAX_TIMEOUT_SECONDS, "--timeout must be from 1 to 3600 seconds");
        return Duration.ofSeconds(timeoutSeconds);
    }

    /** Returns a client for the server's HTTP pages, on the same host and for the same user. Sends nothing yet. */
    public StatusClient pages(int port) throws IOException {
        String scheme = tls || tlsAuthorities != null ? "https://" : "http://";
        String url = scheme + new HostPort(address().host(), port);
        return new StatusClient(link(url, login(), "the host of --server cannot be part of a URL"));
    }

    /** Returns an HTTP link to the streams at {@code http://HOST:PORT/PATH}, or {@code https://}; sends nothing yet. */
    public HttpLink link(String url, SourceLogin source) throws IOException {
        Login from = source.get();
        String form = "--from is not http://HOST:PORT/PATH, or https:// for TLS; a token comes from"
                + " --from-password-file or " + from.variable();
        return link(url, from, form);
    }

    /** Returns an HTTP link; {@code form} is the message for the user if the address has another form. */
    private HttpLink link(String url, Login login, String form) throws IOException {
        URI base = uri(url, Set.of("http", "https"), form);
        check(base.getRawUserInfo() == null, form);
        SSLSocketFactory sockets = base.getScheme().equals("https") ? sockets(login) : null;
        return new HttpLink(base, sockets, password(login), timeout());
    }

    /** Returns the password without its line end, or null if there is none. */
    private @Nullable String password(Login login) throws IOException {
        Path file = login.passwordFile();
        if (file == null) {
            String variable = environment().getOrDefault(login.variable(), "");
            return variable.isEmpty() ? null : variable;
        }
        String given = login.prefix() + "password-file " + file;
        check(UserFiles.size(file) <= MAX_PASSWORD_FILE_BYTES, given + " is longer than a password");
        String password = UserFiles.text(file).replaceFirst("\\R\\z", "");
        check(!password.isEmpty(), given + " is empty");
        return password;
    }

    private Map<String, String> environment() {
        return ((CliCommand) spec.userObject()).console().environment();
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            throw misused(otherwise);
        }
    }

    private ParameterException misused(String why) {
        return ((CliCommand) spec.userObject()).misused(why);
    }

    /** The options that set the password and the trusted certificate authorities for a source server. */
    public static final class SourceLogin {
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
        private @Nullable Path authorities;

        private Login get() {
            return new Login("--from-", null, passwordFile, authorities);
        }
    }

    /**
     * The address of a second server, and the user to log in as. A mixin for commands that copy documents to that
     * server.
     */
    public static final class TargetServer {
        @Option(
                names = "--to",
                required = true,
                paramLabel = "HOST:PORT",
                converter = HostPort.Converter.class,
                description = "RESP address of the other server.")
        private HostPort address;

        @Option(names = "--to-user", paramLabel = "NAME", description = "User to log in as at the other server.")
        private @Nullable String user;

        @Option(
                names = "--to-password-file",
                paramLabel = "FILE",
                description = "File with the password for the other server. Alternatively, set the environment variable"
                        + " CARAVAN_TO_PASSWORD.")
        private @Nullable Path passwordFile;

        @Option(
                names = "--to-tls-ca",
                paramLabel = "FILE",
                description = "Use TLS for the other server, and trust the authorities in this file (PEM). By default,"
                        + " --tls and --tls-ca apply to both servers.")
        private @Nullable Path authorities;

        public String address() {
            return address.toString();
        }

        public Endpoint endpoint(ConnectionOptions options) throws IOException {
            Path trusted = authorities == null ? options.tlsAuthorities : authorities;
            return options.endpoint(address, new Login("--to-", user, passwordFile, trusted));
        }
    }
}
