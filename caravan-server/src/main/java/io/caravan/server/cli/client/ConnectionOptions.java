package io.caravan.server.cli.client;

import io.caravan.server.cli.common.CliCommand;
import io.caravan.server.config.HostPort;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import redis.clients.jedis.ClientSetInfoConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.DefaultRedisCredentials;

/**
 * Options for the server's address and the user. A password is never an option, because other users of the machine can
 * see command lines.
 */
final class ConnectionOptions {
    /** The position of these options in the help text: after the command's own options. */
    static final int ORDER = 10;

    private static final List<String> ADDRESS_VARIABLES = List.of("CARAVAN_SERVER", "CARAVAN_RESP");
    private static final HostPort USUAL_ADDRESS = new HostPort("127.0.0.1", 6380);
    /** Maps the wildcard addresses, on which a server listens on every interface, to loopback addresses. */
    private static final Map<String, String> LOOPBACK = Map.of("0.0.0.0", "127.0.0.1", "::", "::1");

    private static final Pattern HTTP = Pattern.compile("(https?://)([^/]+)/?");
    private static final long MAX_PASSWORD_FILE_BYTES = 4096;
    private static final int MAX_TIMEOUT_SECONDS = 3600;

    @Spec(Spec.Target.MIXEE)
    private CommandLine.Model.CommandSpec spec;

    @Option(
            names = "--server",
            order = ORDER,
            paramLabel = "HOST:PORT",
            converter = HostPort.Converter.class,
            description = "The server's RESP address; by default that of the environment variable CARAVAN_SERVER, or"
                    + " else where a server of this machine listens: CARAVAN_RESP, or 127.0.0.1:6380.")
    private @Nullable HostPort server;

    @Option(names = "--user", order = ORDER, paramLabel = "NAME", description = "The user to log in as.")
    private @Nullable String user;

    @Option(
            names = "--password-file",
            order = ORDER,
            paramLabel = "FILE",
            description =
                    "A file that holds the password. It can also be set in the environment variable CARAVAN_PASSWORD.")
    private @Nullable Path passwordFile;

    @Option(names = "--tls", order = ORDER, description = "Use TLS; the server's certificate must be valid for HOST.")
    private boolean tls;

    @Option(
            names = "--tls-ca",
            order = ORDER,
            paramLabel = "FILE",
            description = "Certificates (PEM) of the authorities to trust instead of Java's defaults; implies --tls.")
    private @Nullable Path tlsAuthorities;

    @Option(
            names = "--timeout",
            order = ORDER,
            paramLabel = "SECONDS",
            defaultValue = "10",
            description = "How long the server may take to answer.")
    private int timeoutSeconds;

    /**
     * The login at a server.
     *
     * @param prefix the prefix of the names of the login options
     */
    record Login(
            String prefix, @Nullable String user, @Nullable Path passwordFile) {
        String variable() {
            return "CARAVAN_" + prefix.substring(2).toUpperCase(Locale.ROOT).replace('-', '_') + "PASSWORD";
        }

        /** Returns a description of the two ways to give the password. */
        String ways() {
            return "the environment variable " + variable() + " or with " + prefix + "password-file FILE";
        }
    }

    /**
     * Connects to the server.
     *
     * @throws ParameterException if the options contradict each other
     * @throws IOException if a file cannot be read
     * @throws ServerConnection.LostException if the server cannot be reached
     */
    ServerConnection connect() throws IOException {
        return connect(server());
    }

    /** Connects to another node of the server's cluster, as the same user; see {@link #connect()}. */
    ServerConnection connect(HostPort node) throws IOException {
        return connect(node, login());
    }

    private Login login() {
        return new Login("--", user, passwordFile);
    }

    private HostPort server() {
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

    /** Connects to another server; see {@link #connect()}. */
    ServerConnection connect(HostPort address, Login login) throws IOException {
        DefaultJedisClientConfig.Builder config = DefaultJedisClientConfig.builder()
                .resp3()
                .autoNegotiateProtocol(false)
                .timeoutMillis((int) timeout().toMillis())
                .clientSetInfoConfig(ClientSetInfoConfig.DISABLED);
        char[] password = password(login);
        check(
                login.user() == null || password != null,
                login.prefix() + "user needs a password: set " + login.variable() + ", or give " + login.prefix()
                        + "password-file FILE");
        if (password != null) {
            config.credentials(new DefaultRedisCredentials(login.user(), password));
        }
        if (secure()) {
            SSLParameters parameters = new SSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            config.ssl(true).sslParameters(parameters);
        }
        if (tlsAuthorities != null) {
            config.sslSocketFactory(trusting(tlsAuthorities).context().getSocketFactory());
        }
        return ServerConnection.open(address, config.build());
    }

    /**
     * Connects to a Redis server, with the same timeout.
     *
     * @param login the login, whose password overrides that of the address
     * @param authorities the certificate authorities to trust instead of Java's defaults, if TLS is used
     */
    RedisConnection connect(RedisAddress redis, Login login, @Nullable Path authorities) throws IOException {
        int timeoutSeconds = (int) timeout().toSeconds();
        char[] password = password(login);
        SSLSocketFactory tlsSockets = authorities == null
                ? (SSLSocketFactory) SSLSocketFactory.getDefault()
                : trusting(authorities).context().getSocketFactory();
        return RedisConnection.open(
                password == null ? redis : redis.withPassword(new String(password)),
                redis.tls() ? tlsSockets : null,
                timeoutSeconds);
    }

    private boolean secure() {
        return tls || tlsAuthorities != null;
    }

    private Duration timeout() {
        check(timeoutSeconds >= 1 && timeoutSeconds <= MAX_TIMEOUT_SECONDS, "--timeout must be from 1 to 3600 seconds");
        return Duration.ofSeconds(timeoutSeconds);
    }

    /**
     * Returns access to the server's HTTP pages, on the same host and for the same user. Sends nothing yet.
     *
     * @throws IOException if a file cannot be read
     */
    StatusClient pages(int port) throws IOException {
        URI base = URI.create((secure() ? "https://" : "http://") + new HostPort(server().host(), port));
        return new StatusClient(link(base, login(), tlsAuthorities));
    }

    /**
     * Returns a link to a server over HTTP, with the same timeout; sends nothing yet.
     *
     * @param login the login, whose password is the bearer token
     * @param authorities the certificate authorities to trust instead of Java's defaults, if TLS is used
     * @throws IOException if a file cannot be read
     */
    HttpLink link(URI base, Login login, @Nullable Path authorities) throws IOException {
        char[] token = password(login);
        return new HttpLink(
                base,
                authorities == null ? null : trusting(authorities).context(),
                token == null ? null : new String(token),
                timeout());
    }

    /**
     * Returns access to a server's documents over HTTP, with the same timeout; sends nothing yet.
     *
     * @param url {@code http://HOST:PORT} or {@code https://HOST:PORT}
     * @throws IllegalArgumentException if the address has another form; the message does not quote it, because it may
     *     contain a password
     */
    DocumentClient carrier(String url, Login login, @Nullable Path authorities) throws IOException {
        Matcher parts = HTTP.matcher(url);
        if (!parts.matches()) {
            throw new IllegalArgumentException("no address for HTTP");
        }
        URI base = URI.create(parts.group(1) + HostPort.parse(parts.group(2)));
        return new HttpDocumentClient(link(base, login, authorities), login.ways(), Retries.Pause.REAL);
    }

    private static JdkSslContext trusting(Path authorities) throws IOException {
        try (InputStream certificates = Files.newInputStream(authorities)) {
            return (JdkSslContext) SslContextBuilder.forClient()
                    .sslProvider(SslProvider.JDK)
                    .trustManager(certificates)
                    .build();
        } catch (IllegalArgumentException unfit) {
            throw new IOException("--tls-ca " + authorities + " is not a file of PEM certificates", unfit);
        }
    }

    /** Returns the password without its line end, or null if there is none. */
    private char @Nullable [] password(Login login) throws IOException {
        Path file = login.passwordFile();
        if (file == null) {
            String variable = environment().getOrDefault(login.variable(), "");
            return variable.isEmpty() ? null : variable.toCharArray();
        }
        String given = login.prefix() + "password-file " + file;
        check(Files.size(file) <= MAX_PASSWORD_FILE_BYTES, given + " is longer than a password");
        String password = Files.readString(file).replaceFirst("\\R\\z", "");
        check(!password.isEmpty(), given + " is empty");
        return password.toCharArray();
    }

    private Map<String, String> environment() {
        return ((CliCommand) spec.userObject()).console().environment();
    }

    void check(boolean holds, String otherwise) {
        if (!holds) {
            throw misused(otherwise);
        }
    }

    ParameterException misused(String why) {
        return ((CliCommand) spec.userObject()).misused(why);
    }
}
