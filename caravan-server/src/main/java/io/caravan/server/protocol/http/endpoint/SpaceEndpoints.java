package io.caravan.server.protocol.http.endpoint;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.caravan.server.document.space.Prefix;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.SpaceSettings;
import io.caravan.server.document.space.Spaces;
import io.caravan.server.protocol.http.codec.Problem;
import io.caravan.server.protocol.http.codec.Response;
import io.caravan.server.protocol.http.codec.StreamName;
import io.caravan.server.protocol.http.connection.HttpExchange;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Function;

/** The endpoints that manage spaces, under the same rules as {@code CARAVAN.SPACE}. */
public final class SpaceEndpoints {
    /** The prefix of the URL paths of spaces. */
    public static final String PREFIX = "/v1/spaces/";

    private static final String INVALID = "invalid_space";
    private final Endpoints endpoints;

    public SpaceEndpoints(Endpoints endpoints) {
        this.endpoints = endpoints;
    }

    public void list(HttpExchange exchange) {
        respond(
                exchange,
                spaces -> Response.json(
                        200,
                        Map.of(
                                "spaces",
                                spaces.all().stream().map(Described::of).toList())));
    }

    public void find(HttpExchange exchange) {
        Prefix prefix = prefix(exchange);
        respond(exchange, spaces -> {
            Space space = spaces.get(prefix);
            if (space == null) {
                throw unknown(prefix);
            }
            return Response.json(200, Described.of(space));
        });
    }

    /** Creates a space, or replaces all settings of an existing space. */
    public void set(HttpExchange exchange) {
        Prefix prefix = prefix(exchange);
        SpaceSettings settings = settings(exchange.request().body());
        respond(exchange, spaces -> Response.json(200, Described.of(spaces.set(prefix, before -> settings))));
    }

    public void remove(HttpExchange exchange) {
        Prefix prefix = prefix(exchange);
        respond(exchange, spaces -> {
            if (!spaces.remove(prefix)) {
                throw unknown(prefix);
            }
            return new Response(204).uncached();
        });
    }

    private static Problem unknown(Prefix prefix) {
        return new Problem(404, "no_space", "there is no space '" + prefix + "'");
    }

    /** Runs the request and responds on a reading thread, because changes to spaces wait for the store. */
    private void respond(HttpExchange exchange, Function<Spaces, Response> response) {
        Spaces spaces = endpoints.readiness().documents().spaces();
        endpoints.read(exchange, () -> exchange.respond(response.apply(spaces)));
    }

    private static Prefix prefix(HttpExchange exchange) {
        return Prefix.of(
                StreamName.bytes(exchange.route().rest(exchange.request().path())));
    }

    /** Parses an object with a number or a word for each setting. */
    private SpaceSettings settings(byte[] body) {
        SpaceSettings settings = SpaceSettings.NONE;
        Map<?, ?> fields = endpoints.json().parse(body, Map.class, INVALID);
        for (Map.Entry<?, ?> field : fields.entrySet()) {
            SpaceSetting setting = SpaceSetting.of((String) field.getKey());
            boolean word = setting.unit() == SpaceSetting.Unit.WORD;
            if (word && field.getValue() instanceof String text) {
                settings = settings.with(setting, setting.number(text));
            } else if (!word && (field.getValue() instanceof Integer || field.getValue() instanceof Long)) {
                settings = settings.with(setting, ((Number) field.getValue()).longValue());
            } else {
                throw Problem.badRequest(INVALID, setting.key() + " must be " + (word ? "a word" : "a whole number"));
            }
        }
        return settings;
    }

    /** The description of a space in a response. */
    private record Described(
            String prefix,
            String path,
            Map<String, Object> settings,
            @JsonUnwrapped Space.Status status) {
        static Described of(Space space) {
            byte[] prefix = space.prefix().toBytes();
            return new Described(
                    new String(prefix, StandardCharsets.UTF_8),
                    PREFIX + StreamName.encode(prefix),
                    space.settings().shown(),
                    space.status());
        }
    }
}
