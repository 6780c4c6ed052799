package io.caravan.server.protocol.http;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.util.AsciiString;
import java.net.InetSocketAddress;
import java.util.Locale;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The rules that determine which web pages may use the server from a browser.
 *
 * <p>If clients need tokens, pages of any origin may use the server, because a browser does not add a token by itself.
 * If clients need no token, every program on this machine has access, including the browser with every page that its
 * user visits. Therefore only pages of this machine, and pages that the operator allows, may use the server.
 *
 * <p>An attacker can make a foreign host name resolve to the server (DNS rebinding). If clients need no token, the
 * {@code Host} header of a request must therefore be one of these:
 *
 * <ul>
 *   <li>a name of this machine, or the host on which the server listens;
 *   <li>the host of another node of the cluster;
 *   <li>a name that the operator allows;
 *   <li>any IP address, if the server does not listen on a loopback address.
 * </ul>
 *
 * <p>These rules do not affect programs other than browsers: such programs send no {@code Origin}, and their {@code
 * Host} is the address to which they connect.
 */
public final class Origins {
    static final AsciiString RESOURCE_POLICY = AsciiString.cached("Cross-Origin-Resource-Policy");
    static final AsciiString CONTENT_TYPE_OPTIONS = AsciiString.cached("X-Content-Type-Options");

    private static final String ANY = "*";
    private static final String LOOPBACK = "localhost|[a-z0-9-]+\\.localhost|127(\\.[0-9]{1,3}){3}|\\[::1]";
    private static final Pattern LOOPBACK_HOST = Pattern.compile(LOOPBACK);
    private static final Pattern ADDRESS = Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}|\\[[0-9a-f:.]+]");
    private static final Pattern NAME = Pattern.compile("[a-z0-9._-]+");
    private static final Pattern AUTHORITY = Pattern.compile("(?<host>\\[[0-9a-f:.]+]|[^:\\[\\]]+)(:[0-9]{0,5})?");
    private static final Pattern ORIGIN =
            Pattern.compile("https?://(?<host>\\[[0-9a-f:.]+]|[a-z0-9._-]+)(:[0-9]{1,5})?");

    private static final String ALLOWED_HEADERS =
            "Authorization, Content-Type, If-None-Match, Stream-If-Offset, Stream-Seq, Stream-TTL,"
                    + " Stream-Expires-At, Stream-Closed, Stream-Forked-From, Stream-Fork-Offset, Stream-Fork-Sub-Offset,"
                    + " Producer-Id, Producer-Epoch, Producer-Seq";
    private static final String EXPOSED_HEADERS = "Accept-Encoding, Allow, Date, ETag, Location, Retry-After,"
            + " WWW-Authenticate, Stream-Next-Offset,"
            + " Stream-First-Offset, Stream-Up-To-Date, Stream-Closed, Stream-Durability, Stream-Cursor, Stream-TTL, Stream-Expires-At,"
            + " Stream-SSE-Data-Encoding, Producer-Epoch, Producer-Seq, Producer-Expected-Seq, Producer-Received-Seq";
    private static final Set<HttpMethod> READING = Set.of(HttpMethod.GET, HttpMethod.HEAD, HttpMethod.OPTIONS);
    private static final String PREFLIGHT_SECONDS = "86400";

    private final boolean any;
    private final boolean anyAddress;
    private final Set<String> allowed;
    private final Set<String> hosts;
    private final Predicate<String> known;
    /** The headers of every response. Added together, because this takes less time than one after another. */
    private final HttpHeaders common = new DefaultHttpHeaders();
    /** The last allowed {@code Host}, except a known one, because most requests have the same {@code Host}. */
    private volatile @Nullable String lastAllowed;

    /**
     * Creates the rules for a listener. Clients need a token if {@code authenticated}. {@code known} hosts, which may
     * change, are also allowed as {@code Host}.
     */
    public Origins(HttpConfig config, boolean authenticated, Predicate<String> known) {
        InetSocketAddress address = config.address();
        allowed = config.allowedOrigins();
        hosts = allowed.stream()
                .map(ORIGIN::matcher)
                .filter(Matcher::matches)
                .map(origin -> origin.group("host"))
                .collect(Collectors.toSet());
        hosts.add(lower(address.getHostString()));
        hosts.addAll(config.allowedHosts());
        this.known = known;
        any = authenticated || allowed.contains(ANY);
        anyAddress = !address.getAddress().isLoopbackAddress();
        if (any) {
            allow(common, ANY);
        } else {
            common.set(HttpHeaderNames.VARY, HttpHeaderNames.ORIGIN);
        }
        // All pages of this machine belong to the same site, regardless of the port.
        common.set(RESOURCE_POLICY, any ? "cross-origin" : "same-site");
        common.set(CONTENT_TYPE_OPTIONS, "nosniff");
    }

    /** Whether this is an origin as browsers send it, such as {@code https://app.example:8443}, or {@code *}. */
    static boolean valid(String origin) {
        return origin.equals(ANY) || ORIGIN.matcher(origin).matches();
    }

    static boolean validHost(String host) {
        return host.equals(ANY) || NAME.matcher(host).matches();
    }

    /** Throws {@link Problem} if the request could have come from a page that is not allowed to use the server. */
    public void check(HttpMethod method, HttpHeaders headers) {
        if (any) {
            return;
        }
        String host = headers.get(HttpHeaderNames.HOST);
        if (host != null && !host.equals(lastAllowed) && !mayName(host)) {
            throw new Problem(
                    403,
                    "foreign_host",
                    "this server requires no token, so the Host header must contain its address; --allow-host allows"
                            + " other names");
        }
        String origin = headers.get(HttpHeaderNames.ORIGIN);
        if (!READING.contains(method) && origin != null && !mayUse(origin)) {
            throw new Problem(
                    403,
                    "foreign_origin",
                    "pages of this origin may not change anything, because clients need no token here; --allow-origin allows them");
        }
    }

    private boolean mayName(String authority) {
        Matcher parts = AUTHORITY.matcher(lower(authority));
        String host = parts.matches() ? parts.group("host") : "";
        boolean always = hosts.contains(ANY)
                || LOOPBACK_HOST.matcher(host).matches()
                || hosts.contains(host)
                || anyAddress && ADDRESS.matcher(host).matches();
        if (always) {
            lastAllowed = authority;
        }
        return always || known.test(host);
    }

    private boolean mayUse(String origin) {
        Matcher parts = ORIGIN.matcher(origin);
        return parts.matches() && (LOOPBACK_HOST.matcher(parts.group("host")).matches() || allowed.contains(origin));
    }

    /** Adds headers that determine which pages may read a response, and that forbid guessing its content type. */
    void addTo(HttpHeaders response, HttpHeaders request) {
        response.add(common);
        String origin = any ? null : request.get(HttpHeaderNames.ORIGIN);
        if (origin != null && mayUse(origin)) {
            allow(response, origin);
        }
    }

    private static void allow(HttpHeaders response, String origin) {
        response.set(HttpHeaderNames.ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        response.set(HttpHeaderNames.ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
    }

    public static Response preflight() {
        return new Response(204)
                .header("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, DELETE, OPTIONS")
                .header("Access-Control-Allow-Headers", ALLOWED_HEADERS)
                .header("Access-Control-Max-Age", PREFLIGHT_SECONDS);
    }

    private static String lower(String host) {
        return host.toLowerCase(Locale.ROOT);
    }
}
