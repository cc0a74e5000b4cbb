//! Bar charts as SVG, by hand: groups of bars on a logarithmic scale.
//!
//! No background and no fonts of their own, and colours of middle brightness, so that they can be
//! read on light and on dark pages, also where nothing tells a picture which it is on.

use std::fmt::Write as _;

// Told apart by those who see fewer colours, too; Okabe and Ito's, and grey for the last.
const COLOURS: [&str; 8] =
    ["#0072b2", "#999999", "#d55e00", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#8c6d31"];
pub(crate) const STYLE: &str = "text{font:12px sans-serif;fill:#6e7781}.head{font-size:15px}\
    line{stroke:#8b949e;stroke-opacity:.4}\
    @media(prefers-color-scheme:dark){text{fill:#c9d1d9}}";

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 40.0;
const LEGEND_STEP: f64 = 96.0;
/// How much of the room of a group its bars take.
const FILLED: f64 = 0.85;

/// What a chart shows.
#[derive(Debug)]
pub(crate) struct Chart {
    pub(crate) title: String,
    /// What the bars of a group stand for.
    pub(crate) bars: Vec<&'static str>,
    pub(crate) groups: Vec<Group>,
    /// How a value is written.
    pub(crate) show: fn(f64) -> String,
}

#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    /// As many as there are bars.
    pub(crate) values: Vec<Option<f64>>,
}

impl Chart {
    pub(crate) fn to_svg(&self) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
             width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\">\n\
             <title>{0}</title>\n<style>{STYLE}</style>\n",
            self.title
        );
        text(&mut svg, (LEFT, 20.0, "start"), "head", &self.title);
        self.draw_legend(&mut svg);
        self.draw_scale(&mut svg);
        for (number, group) in self.groups.iter().enumerate() {
            self.draw_group(&mut svg, number, group);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn draw_legend(&self, svg: &mut String) {
        let mut x = LEFT;
        for (name, colour) in self.bars.iter().zip(COLOURS.iter().cycle()) {
            rectangle(svg, (x, 34.0), (10.0, 10.0), colour);
            text(svg, (x + 14.0, 43.0, "start"), "", name);
            x += LEGEND_STEP;
        }
    }

    fn draw_scale(&self, svg: &mut String) {
        let (low, high) = self.decades();
        for decade in low..=high {
            let value = 10_f64.powi(decade);
            let y = self.y(value);
            line(svg, (LEFT, y), (WIDTH, y));
            text(svg, (LEFT - 6.0, y + 4.0, "end"), "", &(self.show)(value));
        }
    }

    fn draw_group(&self, svg: &mut String, number: usize, group: &Group) {
        let room = (WIDTH - LEFT) / count(self.groups.len());
        let bar = room * FILLED / count(self.bars.len());
        let left = LEFT + room * count(number) + room * (1.0 - FILLED) / 2.0;
        let values = group.values.iter().zip(COLOURS.iter().cycle()).enumerate();
        for (place, (value, colour)) in values {
            let Some(value) = value else { continue };
            let (x, y) = (left + bar * count(place), self.y(*value));
            rectangle(svg, (x, y), (bar - 2.0, HEIGHT - BOTTOM - y), colour);
            let middle = x + bar / 2.0 - 1.0;
            let _ = writeln!(
                svg,
                "<text x=\"0\" y=\"0\" transform=\"translate({:.1} {:.1}) rotate(-90)\" \
                 style=\"font-size:9px\">{}</text>",
                middle + 3.0,
                y - 3.0,
                (self.show)(*value)
            );
        }
        let middle = left + room * FILLED / 2.0;
        text(svg, (middle, HEIGHT - BOTTOM + 18.0, "middle"), "", &group.name);
    }

    /// The height at which a value ends.
    fn y(&self, value: f64) -> f64 {
        let (low, high) = self.decades();
        let share = (value.log10() - f64::from(low)) / f64::from(high - low);
        HEIGHT - BOTTOM - share.max(0.0) * (HEIGHT - BOTTOM - TOP - 20.0)
    }

    /// The powers of ten that all values lie between, at least one apart.
    #[expect(clippy::cast_possible_truncation, reason = "no logarithm here is beyond 308")]
    fn decades(&self) -> (i32, i32) {
        let values = self.groups.iter().flat_map(|group| group.values.iter().flatten());
        let logs: Vec<f64> = values.filter(|value| **value > 0.0).map(|it| it.log10()).collect();
        let low = logs.iter().copied().fold(f64::INFINITY, f64::min);
        let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if logs.is_empty() {
            return (0, 1);
        }
        let low = low.floor() as i32;
        (low, (high.ceil() as i32).max(low + 1))
    }
}

pub(crate) fn text(svg: &mut String, at: (f64, f64, &str), class: &str, content: &str) {
    let (x, y, anchor) = at;
    let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\"");
    let _ = writeln!(svg, " class=\"{class}\">{content}</text>");
}

pub(crate) fn rectangle(svg: &mut String, at: (f64, f64), size: (f64, f64), colour: &str) {
    let _ = writeln!(
        svg,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{colour}\"/>",
        at.0, at.1, size.0, size.1
    );
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64)) {
    let _ = writeln!(
        svg,
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
        from.0, from.1, to.0, to.1
    );
}

#[expect(clippy::cast_precision_loss, reason = "bars and groups are few")]
fn count(number: usize) -> f64 {
    number as f64
}
