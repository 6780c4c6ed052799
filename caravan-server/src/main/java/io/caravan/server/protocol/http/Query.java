package io.caravan.server.protocol.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The query parameters of a URL. Unknown parameters are ignored, as the protocol requires. */
public final class Query {
    static final Query NONE = new Query("");

    private static final String WHAT = "the URL's query";
    private static final int MAX_PARAMETERS = 64;
    private static final int MAX_DIGITS = 19;

    private final String raw;
    private final Map<String, List<String>> values = new HashMap<>();

    /** Parses the part of a URL after the question mark. Throws {@link Problem} if it is malformed. */
    public Query(String raw) {
        this.raw = raw;
        int count = 0;
        for (String pair : raw.split("&", -1)) {
            if (pair.isEmpty()) {
                continue;
            }
            if (++count > MAX_PARAMETERS) {
                throw Problem.badRequest(
                        "too_many_parameters", "the URL has more than " + MAX_PARAMETERS + " parameters");
            }
            String[] parts = pair.split("=", 2);
            values.computeIfAbsent(text(parts[0]), unseen -> new ArrayList<>(1))
                    .add(parts.length == 1 ? "" : text(parts[1]));
        }
    }

    private static String text(String part) {
        byte[] decoded = StreamName.percentDecode(part.replace("+", "%20"), WHAT);
        String text = new String(decoded, UTF_8);
        Problem.require(Arrays.equals(text.getBytes(UTF_8), decoded), "malformed_url", WHAT + " is not UTF-8");
        return text;
    }

    /** Returns the value of a parameter, or null if it is absent. Throws {@link Problem} if it is repeated. */
    public @Nullable String get(String name) {
        List<String> given = values.getOrDefault(name, List.of());
        if (given.size() > 1) {
            throw Problem.badRequest("repeated_parameter", name + " is given more than once");
        }
        return given.isEmpty() ? null : given.get(0);
    }

    /** Returns the nonnegative number in a parameter, or {@code otherwise}. Throws {@link Problem} if malformed. */
    public long number(String name, long otherwise) {
        String value = get(name);
        if (value == null) {
            return otherwise;
        }
        long number = parse(value);
        Problem.require(number >= 0, "invalid_parameter", name + " must be a number below 2^63");
        return number;
    }

    /** Returns the number with these digits, or a negative one if the text is not a number below 2^63. */
    static long parse(String text) {
        if (text.isEmpty() || text.length() > MAX_DIGITS) {
            return -1;
        }
        long number = 0;
        for (int i = 0; i < text.length(); i++) {
            int digit = text.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            // With 19 digits, a number that is too large becomes negative.
            number = 10 * number + digit;
        }
        return number;
    }

    /** Returns the maximum number of elements on a page: a parameter from 1, up to {@code most}. */
    public int limit(int otherwise, int most) {
        int limit = (int) Math.min(most, number("limit", otherwise));
        Problem.require(limit > 0, "invalid_parameter", "limit must be 1 or more");
        return limit;
    }

    /** Whether a parameter has the value {@code true}. Any other value counts as false. */
    public boolean flag(String name) {
        return "true".equals(get(name));
    }

    /** Returns the query as sent, without the question mark. */
    @Override
    public String toString() {
        return raw;
    }
}
