package io.caravan.server.protocol.http.codec;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The parameters after a URL's question mark. Unknown ones are ignored, as the protocol requires. */
public final class Query {
    private static final int MAX_PARAMETERS = 64;

    private record Parameter(String name, String value) {}

    private final List<Parameter> parameters = new ArrayList<>();

    /**
     * Parses a query.
     *
     * @param raw what follows the question mark
     * @throws Problem when it is malformed
     */
    public Query(String raw) {
        for (int from = 0; from < raw.length(); ) {
            int next = raw.indexOf('&', from);
            int to = next < 0 ? raw.length() : next;
            if (to > from) {
                add(raw.substring(from, to));
            }
            from = to + 1;
        }
    }

    private void add(String pair) {
        if (parameters.size() == MAX_PARAMETERS) {
            throw Problem.badRequest("too_many_parameters", "the URL has more than " + MAX_PARAMETERS + " parameters");
        }
        int equals = pair.indexOf('=');
        String name = equals < 0 ? pair : pair.substring(0, equals);
        String value = equals < 0 ? "" : pair.substring(equals + 1);
        parameters.add(new Parameter(text(name), text(value)));
    }

    private static String text(String part) {
        return PercentCode.text(part.replace("+", "%20"), "the URL's query");
    }

    /**
     * The value of a parameter, or null when it is absent.
     *
     * @throws Problem when it is repeated
     */
    public @Nullable String get(String name) {
        String found = null;
        for (Parameter parameter : parameters) {
            if (parameter.name().equals(name)) {
                if (found != null) {
                    throw Problem.badRequest("repeated_parameter", name + " is given more than once");
                }
                found = parameter.value();
            }
        }
        return found;
    }
}
