package io.caravan.server.cli.client;

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
import redis.clients.jedis.HostAndPort;

/**
 * Options for the server's address and the user. A password is never an option, because other users of the machine see
 * command lines.
 */
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ConnectionOptions {
    /** Places these options after the command's own in help. */
    static final int ORDER = 10;

    private static final String PASSWORD_VARIABLE = "CARAVAN_PASSWORD";
    private static final Pattern HTTP = Pattern.compile("(https?://)([^/]+)/?");
    private static final long MAX_PASSWORD_FILE_BYTES = 4096;
    private static final int MAX_TIMEOUT_SECONDS = 3600;

    @Spec(Spec.Target.MIXEE)
    private CommandLine.Model.CommandSpec spec;

    @Option(
            names = "--server",
            order = ORDER,
            paramLabel = "HOST:PORT",
            defaultValue = "${env:CARAVAN_SERVER:-127.0.0.1:6380}",
            converter = HostPort.Converter.class,
            description = "The server's RESP address. Can also be set in the environment variable CARAVAN_SERVER.")
    private HostPort server;

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
     * Connects to the server.
     *
     * @throws ParameterException if the options contradict each other
     * @throws IOException if a file cannot be read
     * @throws ServerConnection.LostException if the server cannot be reached
     */
    ServerConnection connect(Map<String, String> environment) throws IOException {
        return connect(environment, own());
    }

    /** Connects like {@link #connect(Map)}, as the same user, to another node of the server's cluster. */
    ServerConnection connect(Map<String, String> environment, HostPort host) throws IOException {
        return connect(environment, own(host));
    }

    private Target own() {
        return own(server);
    }

    private Target own(HostPort host) {
        return new Target(host, user, passwordFile, PASSWORD_VARIABLE, "--");
    }

    /**
     * A server, and the user there.
     *
     * @param variable the environment variable that may contain the password
     * @param prefix the prefix of the options' names
     */
    record Target(
            HostPort address,
            @Nullable String user,
            @Nullable Path passwordFile,
            String variable,
            String prefix) {}

    /** Connects like {@link #connect(Map)}, to another server. */
    ServerConnection connect(Map<String, String> environment, Target target) throws IOException {
        checkTimeout();
        DefaultJedisClientConfig.Builder config = DefaultJedisClientConfig.builder()
                .resp3()
                .autoNegotiateProtocol(false)
                .timeoutMillis(timeoutSeconds * 1_000)
                .clientSetInfoConfig(ClientSetInfoConfig.DISABLED);
        char[] password = password(environment, target);
        check(
                target.user() == null || password != null,
                target.prefix() + "user needs a password: set " + target.variable() + ", or give " + target.prefix()
                        + "password-file FILE");
        if (password != null) {
            config.credentials(new DefaultRedisCredentials(target.user(), password));
        }
        if (tls || tlsAuthorities != null) {
            SSLParameters parameters = new SSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            config.ssl(true).sslParameters(parameters);
        }
        if (tlsAuthorities != null) {
            config.sslSocketFactory(trusting(tlsAuthorities).context().getSocketFactory());
        }
        HostPort address = target.address();
        return ServerConnection.open(new HostAndPort(address.host(), address.port()), config.build(), address);
    }

    /**
     * Connects to a Redis server, with the same timeout.
     *
     * @param passwordFile the file with the password; overrides the environment and the address
     * @param authorities to trust instead of Java's defaults, if the address requires TLS
     */
    RedisConnection connect(
            Map<String, String> environment,
            RedisAddress redis,
            @Nullable Path passwordFile,
            @Nullable Path authorities)
            throws IOException {
        checkTimeout();
        Target from =
                new Target(redis.address(), redis.user(), passwordFile, ImportSource.PASSWORD_VARIABLE, "--from-");
        char[] password = password(environment, from);
        SSLSocketFactory tlsSockets = authorities == null
                ? (SSLSocketFactory) SSLSocketFactory.getDefault()
                : trusting(authorities).context().getSocketFactory();
        return RedisConnection.open(
                password == null ? redis : redis.withPassword(new String(password)),
                redis.tls() ? tlsSockets : null,
                timeoutSeconds);
    }

    private void checkTimeout() {
        check(timeoutSeconds >= 1 && timeoutSeconds <= MAX_TIMEOUT_SECONDS, "--timeout must be from 1 to 3600 seconds");
    }

    /**
     * Returns the server's pages over HTTP, on the same host and for the same user; sends nothing yet.
     *
     * @throws IOException if a file cannot be read
     */
    HttpPages pages(Map<String, String> environment, int port) throws IOException {
        boolean secure = tls || tlsAuthorities != null;
        URI base = URI.create((secure ? "https://" : "http://") + new HostPort(server.host(), port));
        return new HttpPages(link(environment, base, own(), tlsAuthorities));
    }

    /**
     * Returns a link to a server over HTTP, with the same timeout; sends nothing yet.
     *
     * @param target the user there; its password is the token
     * @param authorities to trust instead of Java's defaults, if the address requires TLS
     * @throws IOException if a file cannot be read
     */
    HttpLink link(Map<String, String> environment, URI base, Target target, @Nullable Path authorities)
            throws IOException {
        checkTimeout();
        char[] token = password(environment, target);
        return new HttpLink(
                base,
                authorities == null ? null : trusting(authorities).context(),
                token == null ? null : new String(token),
                Duration.ofSeconds(timeoutSeconds));
    }

    /**
     * Returns access to a server's documents over HTTP, with the same timeout; sends nothing yet.
     *
     * @param url {@code http://HOST:PORT} or {@code https://HOST:PORT}
     * @param variable the environment variable that may contain the token
     * @param prefix the prefix of the options' names
     * @throws IllegalArgumentException if the address has another form; the message does not quote it, because it may
     *     contain a password
     */
    Carrier carrier(
            Map<String, String> environment,
            String url,
            @Nullable Path passwordFile,
            @Nullable Path authorities,
            String variable,
            String prefix)
            throws IOException {
        Matcher parts = HTTP.matcher(url);
        if (!parts.matches()) {
            throw new IllegalArgumentException("no address for HTTP");
        }
        Target target = new Target(HostPort.parse(parts.group(2)), null, passwordFile, variable, prefix);
        URI base = URI.create(parts.group(1) + target.address());
        return new HttpCarrier(
                link(environment, base, target, authorities),
                "the environment variable " + variable + " or with " + prefix + "password-file FILE",
                Retries.Pause.REAL);
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

    /** Returns the password without its line end, or null if none is given. */
    private char @Nullable [] password(Map<String, String> environment, Target target) throws IOException {
        String variable = environment.get(target.variable());
        Path file = target.passwordFile();
        if (file == null) {
            return variable == null || variable.isEmpty() ? null : variable.toCharArray();
        }
        String given = target.prefix() + "password-file " + file;
        check(Files.size(file) <= MAX_PASSWORD_FILE_BYTES, given + " is longer than a password");
        String password = Files.readString(file).replaceFirst("\\R\\z", "");
        check(!password.isEmpty(), given + " is empty");
        return password.toCharArray();
    }

    private void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), otherwise);
        }
    }
}
